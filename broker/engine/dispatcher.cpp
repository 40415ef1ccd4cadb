#include "engine/dispatcher.h"

#include <algorithm>
#include <limits>

namespace sluice::engine {

void Dispatcher::touch(Consumer& consumer) {
  if (consumer.cancelled) return;
  if (!consumer.touched) {
    consumer.touched = true;
    consumer.queue->touched.push_back(&consumer);
  }
  mark(*consumer.queue);
}

void Dispatcher::add(Consumer& consumer) {
  consumer.queue->consumers.push_back(&consumer);
  consumer.served_turn = ++served_turn_;
  touch(consumer);
}

void Dispatcher::remove(Consumer& consumer) {
  unlist(consumer);
  Queue& queue = *consumer.queue;
  std::erase(queue.consumers, &consumer);
  if (consumer.touched) std::erase(queue.touched, &consumer);
  consumer.touched = false;
}

void Dispatcher::forget(Queue& queue) {
  if (queue.dirty) std::erase(dirty_, &queue);
  queue.dirty = false;
}

void Dispatcher::dispatch(const Now& now) {
  working_.swap(dirty_);
  for (Queue* queue : working_) {
    queue->dirty = false;
    dispatch(*queue, now);
  }
  working_.clear();
}

void Dispatcher::dispatch(Queue& queue, const Now& now) {
  for (Consumer* consumer : queue.touched) {
    consumer->touched = false;
    relist(*consumer);
  }
  queue.touched.clear();
  receiving_.clear();
  while (!queue.ready.empty() && !queue.available.empty()) {
    Consumer& consumer = **queue.available.begin();
    if (consumer.assigned.empty()) receiving_.push_back(&consumer);
    assign(queue, consumer, share_of(queue, consumer));
    consumer.served_turn = ++served_turn_;
    relist(consumer);
  }
  for (Consumer* consumer : receiving_) hand_out(queue, *consumer, now);
}

// How many messages the least loaded consumer gets before it is another one's turn.
std::uint64_t Dispatcher::share_of(const Queue& queue, const Consumer& consumer) const {
  const auto next = std::next(queue.available.begin());
  if (next == queue.available.end()) return std::numeric_limits<std::uint64_t>::max();
  return std::max<std::uint64_t>(1, (*next)->listed_held - consumer.listed_held);
}

void Dispatcher::assign(Queue& queue, Consumer& consumer, std::uint64_t count) {
  while (count > 0 && consumer.has_credit() && !queue.ready.empty()) {
    Message& message = queue.ready.pop();
    message.state = MessageState::leased;
    consumer.credit_messages -= 1;
    consumer.credit_bytes -= static_cast<std::int64_t>(message.size());
    consumer.held += 1;
    consumer.assigned.push_back(&message);
    --count;
  }
}

void Dispatcher::hand_out(Queue& queue, Consumer& consumer, const Now& now) {
  const auto count = static_cast<std::uint64_t>(consumer.assigned.size());
  const LeaseId first = leases_.next_id();
  for (Message* message : consumer.assigned) {
    ++message->deliveries;
    const Lease& lease = leases_.open(*message, consumer, now, queue.policy.lease_ms);
    records_.delivered(*message, lease.id);
  }
  queue.ready_count -= count;
  queue.leased_count += count;
  queue.counters.delivered += count;
  effects_.deliver(consumer.session, consumer.number, first, queue.policy.lease_ms, consumer.assigned);
  consumer.assigned.clear();
}

void Dispatcher::relist(Consumer& consumer) {
  if (consumer.listed) {
    if (consumer.has_credit()) {  // moves the set's node: no allocation
      auto node = consumer.queue->available.extract(&consumer);
      consumer.listed_held = consumer.held;
      consumer.listed_turn = consumer.served_turn;
      consumer.queue->available.insert(std::move(node));
    } else {
      unlist(consumer);
    }
    return;
  }
  if (!consumer.has_credit()) return;
  consumer.listed = true;
  consumer.listed_held = consumer.held;
  consumer.listed_turn = consumer.served_turn;
  consumer.queue->available.insert(&consumer);
}

void Dispatcher::unlist(Consumer& consumer) {
  if (!consumer.listed) return;
  consumer.listed = false;
  consumer.queue->available.erase(&consumer);
}

}  // namespace sluice::engine
