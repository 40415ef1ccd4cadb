#pragma once
// engine/ready_list.h: the ready messages of one queue in the order in which they are handed out.
//
// Shapes   by priority, highest first, then by position. New messages come in order of position and sit in a linked list;
//          what comes back to an old place sits in an ordered set beside it.
// Threads  one.
// Owns     nothing.
// Source   spec/semantics.md "Order".

#include <array>
#include <cstdint>
#include <memory>

#include <absl/container/btree_map.h>

#include "engine/message.h"
#include "wire/frames.h"

namespace sluice::engine {

class ReadyList {
 public:
  bool empty() const { return levels_used_ == 0; }
  // REQUIRES: the message is in no list.
  void add(Message& message);
  void remove(Message& message);
  // The next one. REQUIRES: not empty.
  Message& front() const;
  Message& pop();
  // Calls look(Message&) for the first ones, in order, until it says false.
  template <class Look>
  void look_at_first(Look&& look) const;

 private:
  struct Level {
    TimerNode head;
    absl::btree_map<std::uint64_t, Message*> returned;  // by position
    Level() { head.prev = head.next = &head; }
    bool empty() const { return head.next == &head && returned.empty(); }
  };

  void release_if_empty(std::size_t priority);

  std::uint32_t levels_used_ = 0;  // bit p: level p is not empty
  std::array<std::unique_ptr<Level>, wire::kPriorityMax + 1> levels_;
};

template <class Look>
void ReadyList::look_at_first(Look&& look) const {
  for (std::size_t priority = levels_.size(); priority-- > 0;) {
    if ((levels_used_ >> priority & 1U) == 0) continue;
    const Level& level = *levels_[priority];
    const TimerNode* node = level.head.next;
    auto returned = level.returned.begin();
    while (node != &level.head || returned != level.returned.end()) {
      Message* const fresh = node == &level.head ? nullptr : static_cast<Message*>(const_cast<TimerNode*>(node));
      const bool take_fresh =
          fresh != nullptr && (returned == level.returned.end() || fresh->position < returned->first);
      Message& next = take_fresh ? *fresh : *returned->second;
      if (take_fresh) {
        node = node->next;
      } else {
        ++returned;
      }
      if (!look(next)) return;
    }
  }
}

}  // namespace sluice::engine
