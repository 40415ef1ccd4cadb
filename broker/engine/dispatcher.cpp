#include "engine/dispatcher.h"

#include <algorithm>
#include <limits>

namespace sluice::engine {
namespace {

bool comes_before(const Message& a, const Message& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.position < b.position;
}

// One whose body has to be fetched holds up those behind it: order is kept.
bool has_next(const ReadyList& list) { return !list.empty() && list.front().has_body(); }

}  // namespace

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
  if (consumer.alone || consumer.reserved) mark(*consumer.queue);  // suspects wait for another one now
  end_solitude(consumer);
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
    if (consumer->held == 0) end_solitude(*consumer);
    relist(*consumer);
  }
  queue.touched.clear();
  if (queue.paused) return;
  receiving_.clear();
  while (assign_suspect(queue) || assign_share(queue)) {
  }
  for (Consumer* consumer : receiving_) hand_out(queue, *consumer, now);
  if (queue.on_disk_only > 0 && !queue.available.empty()) bodies_->look_ahead(queue);
}

// To the least loaded consumer, as many as it gets before it is another one's turn.
bool Dispatcher::assign_share(Queue& queue) {
  if (!has_next(queue.ready) || queue.available.empty()) return false;
  Consumer& consumer = **queue.available.begin();
  for (std::uint64_t count = share_of(queue, consumer); count > 0 && consumer.has_credit() && has_next(queue.ready);
       --count)
    assign(consumer, queue.ready.pop());
  relist(consumer);
  return true;
}

std::uint64_t Dispatcher::share_of(const Queue& queue, const Consumer& consumer) const {
  if (!queue.suspects.empty()) return 1;  // whose turn it is, and who is kept free, is asked anew for each message
  const auto next = std::next(queue.available.begin());
  if (next == queue.available.end()) return std::numeric_limits<std::uint64_t>::max();
  return std::max<std::uint64_t>(1, (*next)->listed_held - consumer.listed_held);
}

// A suspect goes, in its turn, to a consumer that holds nothing. Where all are busy the least loaded one gets no more until
// it holds nothing: suspects may not wait for ever, and may not hold up the rest.
bool Dispatcher::assign_suspect(Queue& queue) {
  if (!has_next(queue.suspects) || queue.available.empty()) return false;
  Consumer& consumer = **queue.available.begin();
  if (consumer.held > 0) {
    const bool somebody_will_be_free = queue.alone_count > 0 || queue.reserved != nullptr;
    if (!somebody_will_be_free) reserve(consumer);
    return false;
  }
  if (!queue.ready.empty() && comes_before(queue.ready.front(), queue.suspects.front())) return false;
  assign(consumer, queue.suspects.pop());
  consumer.alone = true;
  ++queue.alone_count;
  relist(consumer);
  return true;
}

void Dispatcher::reserve(Consumer& consumer) {
  consumer.reserved = true;
  consumer.queue->reserved = &consumer;
  relist(consumer);
}

// It holds nothing any more, or goes.
void Dispatcher::end_solitude(Consumer& consumer) {
  Queue& queue = *consumer.queue;
  if (consumer.alone) --queue.alone_count;
  if (consumer.reserved) queue.reserved = nullptr;
  consumer.alone = consumer.reserved = false;
}

void Dispatcher::assign(Consumer& consumer, Message& message) {
  if (consumer.assigned.empty()) receiving_.push_back(&consumer);
  message.state = MessageState::leased;
  consumer.credit_messages -= 1;
  consumer.credit_bytes -= static_cast<std::int64_t>(message.size());
  consumer.held += 1;
  consumer.served_turn = ++served_turn_;
  consumer.assigned.push_back(&message);
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
    if (consumer.takes_work()) {  // moves the set's node: no allocation
      auto node = consumer.queue->available.extract(&consumer);
      consumer.listed_held = consumer.held;
      consumer.listed_turn = consumer.served_turn;
      consumer.queue->available.insert(std::move(node));
    } else {
      unlist(consumer);
    }
    return;
  }
  if (!consumer.takes_work()) return;
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
