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

}  // namespace sluice::engine
