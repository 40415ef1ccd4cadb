#pragma once
// engine/message.h: one message in one queue.
//
// Shapes   one block of memory: Message, then headers, then payload; or a pointer to a Body that several share; or, with a journal, a
//          Kept, whose body may be on disk only. At most 128 bytes beside the payload for a ready message without a journal
//          (tests/unit/engine/message_test.cpp): what only some need is in Extras.
// Owns     its bytes, or its share of the Body, and its Extras. Made by Message::make or make_kept, freed by Message::free.
// Source   spec/semantics.md "Life of a message".

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "engine/timer_wheel.h"

namespace sluice::engine {

struct Queue;
struct Lease;
struct Message;

enum class MessageState : std::uint8_t {
  ready,    // in its queue's ReadyList, by priority and position
  delayed,  // in the delay wheel, until when_ms
  leased,   // held by `lease`
};

// How a message became a dead letter.
enum class DeadReason : std::uint8_t { none, rejected, attempts, overflow, expired };
std::string_view name(DeadReason reason);

// Payload and headers of several messages (the copies of one publish to a topic), or of one that has a journal behind it. Freed with
// the last of them.
struct Body {
  std::uint32_t messages = 0;
  std::uint32_t payload_bytes = 0;
  std::uint16_t headers_bytes = 0;

  static Body* make(std::string_view payload, std::string_view headers);
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
};

// What a journal knows a message by.
struct Kept {
  Body* body = nullptr;        // nullptr: on disk only
  std::uint64_t key = 0;       // its number in the journal, the same for its whole life
  std::uint64_t location = 0;  // of its body in the journal; 0: not written yet
  std::uint32_t checksum = 0;  // of the body, while it is on disk only: what is read back is checked
};

// When a message expires: on the expiry wheel while it is not leased.
struct Expiry : TimerNode {
  Message* message = nullptr;
  bool set = false;     // the message has a time to live; it ends at when_ms
  bool listed = false;  // on the wheel
};

// What only some messages have: those that failed, died or expire.
struct Extras {
  std::uint32_t nacks = 0;
  std::uint32_t expiries = 0;
  std::uint32_t disconnects = 0;
  std::uint32_t releases = 0;
  std::uint32_t restarts = 0;  // of the broker, while it was leased
  std::string error;           // the last failure's text

  // Dead letters only.
  DeadReason reason = DeadReason::none;
  std::string origin;
  std::uint64_t dead_at_ms = 0;       // wall
  std::uint32_t dead_deliveries = 0;  // the counters as they were when it died
  std::uint32_t dead_nacks = 0;
  std::uint32_t dead_expiries = 0;
  std::uint32_t dead_disconnects = 0;
  std::uint32_t dead_releases = 0;
  std::uint32_t dead_restarts = 0;

  Expiry expiry;

  std::uint64_t attempts() const { return std::uint64_t{nacks} + std::uint64_t{expiries} + std::uint64_t{disconnects}; }
};

struct Message : TimerNode {  // TimerNode: the ready list's or the delay wheel's links
  // All messages of the queue, by position.
  Message* queue_prev = nullptr;
  Message* queue_next = nullptr;
  Queue* queue = nullptr;
  std::unique_ptr<Extras> extras;
  Lease* lease = nullptr;          // while leased
  MessageId id{};                  // the same in all copies of one publish
  std::uint64_t position = 0;      // place in the queue; rises
  std::uint64_t published_ms = 0;  // wall
  std::uint32_t deliveries = 0;
  std::uint32_t payload_bytes = 0;
  std::uint16_t headers_bytes = 0;
  std::uint8_t priority = 0;
  MessageState state = MessageState::ready;
  bool returned = false;    // ready, but in the ReadyList's set of those that came back to an old place
  bool suspect = false;     // its last holder vanished: it is handed out alone
  bool shared = false;      // behind the Message stands a Body* (or a Kept, which begins with one), not the bytes
  bool in_journal = false;  // it is a Kept

  static Message* make(std::string_view payload, std::string_view headers);
  // One more message of that body.
  static Message* make(Body& body);
  // The same, with a journal.
  static Message* make_kept(Body& body);
  // With a journal, of a body that is on disk only.
  static Message* make_kept(std::uint32_t payload_bytes, std::uint16_t headers_bytes);
  static void free(Message* message);

  // False: payload() and headers() have to be fetched first.
  bool has_body() const { return !shared || body() != nullptr; }
  // REQUIRES: in_journal, and an attached body.
  void detach_body();
  // REQUIRES: in_journal, no body; sizes as they are.
  void attach_body(Body& body);
  // REQUIRES: in_journal.
  Kept& kept() { return *reinterpret_cast<Kept*>(this + 1); }
  const Kept& kept() const { return *reinterpret_cast<const Kept*>(this + 1); }

  std::string_view headers() const { return {bytes(), headers_bytes}; }
  std::string_view payload() const { return {bytes() + headers_bytes, payload_bytes}; }
  // What credit and limits count.
  std::uint64_t size() const { return std::uint64_t{payload_bytes} + headers_bytes; }
  std::uint64_t attempts() const { return extras == nullptr ? 0 : extras->attempts(); }
  Extras& extra();

 private:
  Message() = default;
  ~Message() = default;
  Body* body() const { return *reinterpret_cast<Body* const*>(this + 1); }
  const char* bytes() const { return shared ? body()->bytes() : reinterpret_cast<const char*>(this + 1); }
};

}  // namespace sluice::engine
