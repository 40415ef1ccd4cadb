#pragma once
// engine/messages.h: the steps of a message's life, each of which keeps lists, counts and records in agreement.
//
// Place    used by publisher, attempts, dead_letters and admin; nobody else changes a message's state.
// Threads  one.
// Owns     every message that is in a queue.
// Source   spec/semantics.md "Life of a message".

#include <cstdint>
#include <string_view>

#include "engine/dispatcher.h"
#include "engine/now.h"
#include "engine/queue.h"
#include "engine/records.h"
#include "engine/timer_wheel.h"

namespace sluice::engine {

class Messages {
 public:
  Messages(Dispatcher& dispatcher, Records& records) : dispatcher_(dispatcher), records_(records) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  // The number of the next publish; all copies of it share it.
  MessageId next_id() { return MessageId{next_id_++}; }
  // A new message at the end of the queue; takes it over. Of `options` what is not in the message: priority, delay, time to live.
  // Its record is the caller's.
  void publish(Queue& queue, Message& message, MessageId id, const wire::PublishMessage& options, const Now& now);
  // A leased message comes back. REQUIRES: its lease is closed.
  void release(Message& message, Cause cause, const Now& now);
  void delay(Message& message, Cause cause, const Now& now, std::uint64_t wait_ms);
  // The message leaves for good. REQUIRES: no open lease.
  void end(Message& message, Ended how);
  // A message without a time to live again.
  void forget_expiry(Message& message);
  // Its time to live is over.
  static bool is_expired(const Message& message, const Now& now) {
    return message.extras != nullptr && message.extras->expiry.set && message.extras->expiry.when_ms <= now.steady_ms;
  }
  // To the end of another queue, ready. Its id is kept, and its record is the caller's. REQUIRES: no open lease.
  void move(Message& message, Queue& to);

  // Makes ready what is due, at most `limit`; true if there is more.
  bool wake(const Now& now, std::size_t limit);
  // Calls expired(Message&) for each message that expired and is not leased, at most `limit`; true if there is more. The
  // message has to leave its queue then. Leased ones are looked at when they come back.
  template <class Expired>
  bool expire(const Now& now, std::size_t limit, Expired&& expired) {
    return expiry_wheel_.advance(now.steady_ms, limit, [&](Expiry& expiry) {
      expiry.listed = false;
      if (expiry.message->state != MessageState::leased) expired(*expiry.message);
    });
  }
  std::optional<std::uint64_t> next_ms();

  // Payloads and headers: of all messages, and of those whose bodies are on disk only.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_on_disk_only() const { return bytes_on_disk_only_; }
  // The body is in the journal, and can be fetched: frees it here.
  void detach_body(Message& message);
  void attach_body(Message& message, Body& body);

  // For recovery. A message as it was; ready, or delayed until then. Positions rise from call to call.
  void restore(Queue& queue, Message& message, std::optional<std::uint64_t> due_ms,
               std::optional<std::uint64_t> expires_ms);
  std::uint64_t next_id_number() const { return next_id_; }
  std::uint64_t next_position() const { return next_position_; }
  void begin_at(std::uint64_t next_id, std::uint64_t next_position) {
    next_id_ = next_id;
    next_position_ = next_position;
  }

 private:
  void append(Queue& queue, Message& message);
  void link(Queue& queue, Message& message);
  void set_expiry(Message& message, std::uint64_t at_ms);
  void leave(Message& message);
  void make_ready(Message& message);

  Dispatcher& dispatcher_;
  Records& records_;
  TimerWheel<Message> wheel_;
  TimerWheel<Expiry> expiry_wheel_;
  std::uint64_t next_id_ = 1;
  std::uint64_t next_position_ = 1;
  std::uint64_t bytes_ = 0;
  std::uint64_t bytes_on_disk_only_ = 0;
};

}  // namespace sluice::engine
