#include "engine/ready_list.h"

#include "base/mutant.h"

#include <bit>

#include "base/check.h"

namespace sluice::engine {
namespace {

void unlink(TimerNode& node) {
  node.prev->next = node.next;
  node.next->prev = node.prev;
  node.prev = node.next = nullptr;
}

}  // namespace

void ReadyList::add(Message& message) {
  const std::size_t priority = message.priority;
  if (levels_[priority] == nullptr) levels_[priority] = std::make_unique<Level>();
  Level& level = *levels_[priority];
  message.state = MessageState::ready;
  TimerNode* const last = level.head.prev;
  const bool in_order =
      last == &level.head || static_cast<Message*>(last)->position < message.position || mutant("old_place_lost");
  message.returned = !in_order;
  if (in_order) {
    message.prev = last;
    message.next = &level.head;
    last->next = &message;
    level.head.prev = &message;
  } else {
    level.returned.emplace(message.position, &message);
  }
  levels_used_ |= 1U << priority;
}

void ReadyList::remove(Message& message) {
  Level& level = *levels_[message.priority];
  if (message.returned) {
    level.returned.erase(message.position);
    message.returned = false;
  } else {
    unlink(message);
  }
  release_if_empty(message.priority);
}

Message& ReadyList::front() const {
  SLUICE_CHECK(!empty());
  const std::size_t priority = 31U - static_cast<unsigned>(std::countl_zero(levels_used_));
  const Level& level = *levels_[priority];
  const bool listed = level.head.next != &level.head;
  Message* message = listed ? static_cast<Message*>(level.head.next) : nullptr;
  if (!level.returned.empty()) {
    Message* const back = level.returned.begin()->second;
    if (message == nullptr || back->position < message->position) message = back;
  }
  return *message;
}

Message& ReadyList::pop() {
  Message& message = front();
  remove(message);
  return message;
}

void ReadyList::release_if_empty(std::size_t priority) {
  if (levels_[priority]->empty()) levels_used_ &= ~(1U << priority);
}

}  // namespace sluice::engine
