#include "engine/messages.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::engine {

void Messages::publish(Queue& queue, Message& message, MessageId id, const wire::PublishMessage& published,
                       const Now& now) {
  message.id = id;
  message.published_ms = now.wall_ms;
  message.priority = published.priority;
  append(queue, message);
  const std::uint64_t ttl_ms = published.ttl_ms != 0 ? published.ttl_ms : queue.policy.ttl_ms;
  if (ttl_ms != 0) set_expiry(message, now.steady_ms + ttl_ms);  // rather early than late: never handed out once over
  if (published.delay_ms == 0) {
    make_ready(message);
  } else {
    message.state = MessageState::delayed;
    ++queue.delayed_count;
    wheel_.set(message, now.moment_ms() + published.delay_ms);
  }
}

void Messages::release(Message& message, Cause cause, const Now& now) {
  SLUICE_CHECK(message.state == MessageState::leased && message.lease == nullptr);
  --message.queue->leased_count;
  make_ready(message);
  records_.returned(message, cause, now);
}

void Messages::delay(Message& message, Cause cause, const Now& now, std::uint64_t wait_ms) {
  if (wait_ms == 0) return release(message, cause, now);
  SLUICE_CHECK(message.state == MessageState::leased && message.lease == nullptr);
  --message.queue->leased_count;
  ++message.queue->delayed_count;
  message.state = MessageState::delayed;
  wheel_.set(message, now.moment_ms() + wait_ms);
  records_.returned(message, cause, now);
}

void Messages::end(Message& message, Ended how) {
  leave(message);
  forget_expiry(message);
  Counters& counters = message.queue->counters;
  switch (how) {
    case Ended::acked:
      ++counters.acked;
      break;
    case Ended::purged:
      ++counters.purged;
      break;
    case Ended::dropped:
      ++counters.dropped;
      break;
    case Ended::expired:
      ++counters.expired;
      break;
  }
  records_.ended(message, how);
  Message::free(&message);
}

void Messages::move(Message& message, Queue& to) {
  leave(message);
  message.suspect = false;
  append(to, message);
  make_ready(message);
}

void Messages::restore(Queue& queue, Message& message, std::optional<std::uint64_t> due_ms,
                       std::optional<std::uint64_t> expires_ms) {
  link(queue, message);
  if (expires_ms) set_expiry(message, *expires_ms);
  if (due_ms) {
    message.state = MessageState::delayed;
    ++queue.delayed_count;
    wheel_.set(message, *due_ms);
  } else {
    message.state = MessageState::ready;
    make_ready(message);
  }
}

void Messages::detach_body(Message& message) {
  message.detach_body();
  bytes_on_disk_only_ += message.size();
  ++message.queue->on_disk_only;
}

void Messages::attach_body(Message& message, Body& body) {
  message.attach_body(body);
  bytes_on_disk_only_ -= message.size();
  --message.queue->on_disk_only;
}

bool Messages::wake(const Now& now, std::size_t limit) {
  return wheel_.advance(now.steady_ms, limit, [this](Message& message) {
    --message.queue->delayed_count;
    make_ready(message);
  });
}

std::optional<std::uint64_t> Messages::next_ms() {
  const std::optional<std::uint64_t> due = wheel_.next_ms();
  const std::optional<std::uint64_t> expiry = expiry_wheel_.next_ms();
  if (!due || !expiry) return due ? due : expiry;
  return std::min(*due, *expiry);
}

void Messages::set_expiry(Message& message, std::uint64_t at_ms) {
  Expiry& expiry = message.extra().expiry;
  expiry.set = true;
  expiry.listed = true;
  expiry_wheel_.set(expiry, at_ms);
}

void Messages::forget_expiry(Message& message) {
  if (message.extras == nullptr) return;
  Expiry& expiry = message.extras->expiry;
  if (expiry.listed) expiry_wheel_.cancel(expiry);
  expiry.set = expiry.listed = false;
}

void Messages::append(Queue& queue, Message& message) {
  message.position = next_position_++;
  link(queue, message);
  ++queue.counters.enqueued;
}

void Messages::link(Queue& queue, Message& message) {
  message.queue = &queue;
  message.queue_prev = queue.last;
  message.queue_next = nullptr;
  (queue.last != nullptr ? queue.last->queue_next : queue.first) = &message;
  queue.last = &message;
  queue.bytes += message.size();
  bytes_ += message.size();
  if (message.has_body()) return;
  bytes_on_disk_only_ += message.size();
  ++queue.on_disk_only;
}

void Messages::leave(Message& message) {
  Queue& queue = *message.queue;
  switch (message.state) {
    case MessageState::ready:
      (message.suspect ? queue.suspects : queue.ready).remove(message);
      --queue.ready_count;
      break;
    case MessageState::delayed:
      wheel_.cancel(message);
      --queue.delayed_count;
      break;
    case MessageState::leased:
      SLUICE_CHECK(message.lease == nullptr);
      --queue.leased_count;
      break;
  }
  (message.queue_prev != nullptr ? message.queue_prev->queue_next : queue.first) = message.queue_next;
  (message.queue_next != nullptr ? message.queue_next->queue_prev : queue.last) = message.queue_prev;
  queue.bytes -= message.size();
  bytes_ -= message.size();
  if (message.has_body()) return;
  bytes_on_disk_only_ -= message.size();
  --queue.on_disk_only;
}

void Messages::make_ready(Message& message) {
  Queue& queue = *message.queue;
  (message.suspect ? queue.suspects : queue.ready).add(message);
  ++queue.ready_count;
  if (!queue.consumers.empty()) dispatcher_.mark(queue);
}

}  // namespace sluice::engine
