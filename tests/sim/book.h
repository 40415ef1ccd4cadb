#pragma once
// sim/book.h: what the oracle knows, as plain records. Fed by frames that pass the broker's socket and by nothing else.
//
// Shapes   a Sent is a message as a producer made it, whatever became of it; a Copy is it in one queue; a Lease is one delivery of it.
// Threads  one.

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wire/value.h"
#include "world.h"

namespace sluice::sim {

struct Queue;
struct Sent;
struct Session;

// What was asked of a lease.
enum class Asked : std::uint8_t { nothing, ack, nack, release, reject };
enum class LeaseState : std::uint8_t {
  live,
  asked,    // a settlement was received, its answer has not left
  settled,  // the answer left: it was carried out
  lost,     // LEASE_LOST left
  gone,     // its session ended, or the broker died
};

struct Copy {
  Queue* queue = nullptr;
  Sent* sent = nullptr;
  bool sure = false;  // it is here if the message was accepted
  bool delivered = false;
  bool acked = false;               // confirmed
  bool maybe_acked = false;         // asked for, and the broker died before the answer
  bool suspect = false;             // may be one
  bool in_order = false;            // in Queue::ready
  std::uint64_t count = 0;          // as last told
  std::uint64_t attempts = 0;       // as last told
  std::uint64_t failures = 0;       // that certainly happened
  std::uint64_t lease = 0;          // the last one
  std::uint64_t delivered_at = 0;   // event
  std::uint64_t acked_at = 0;       // event
  std::uint64_t not_before_us = 0;  // a nack asked for it
  std::uint64_t not_before_life = 0;
};

struct Lease {
  Copy* copy = nullptr;
  Session* session = nullptr;
  std::uint64_t consumer = 0;
  LeaseState state = LeaseState::live;
  Asked asked = Asked::nothing;
  std::uint64_t deadline_us = 0;    // as last told to the holder
  std::uint64_t extended_us = 0;    // the deadline that was asked for last; 0: none
  std::uint64_t nack_until_us = 0;  // the delay that it asked for
  bool emptied = false;             // perhaps, by a purge that came after it was handed out and before it was told
};

enum class Answer : std::uint8_t { none, accepted, refused };

struct Sent {
  std::uint64_t serial = 0;
  std::uint32_t bytes = 0;
  std::uint8_t priority = 4;
  bool topic = false;
  bool poison = false;
  std::string target;
  std::string headers;
  std::string key;
  std::uint64_t delay_ms = 0;
  std::uint64_t ttl_ms = 0;

  Answer answer = Answer::none;
  std::uint64_t id = 0;    // 0: not known
  bool counted = false;    // in Queue::entered
  bool duplicate = false;  // accepted under the id of another one with the same key
  bool received = false;
  std::uint64_t received_us = 0;  // the first time
  std::uint64_t received_wall_us = 0;
  std::uint64_t received_at = 0;  // event
  std::uint64_t last_received_us = 0;
  std::uint64_t lives = 0;       // starts of the broker until it was first received
  std::uint64_t wall_steps = 0;  // until then
  std::deque<Copy> copies;
};

struct Queue {
  std::string name;
  Queue* origin = nullptr;         // of a dead-letter queue
  Queue* dead = nullptr;           // its dead-letter queue, once there was need to name it
  std::uint64_t attempts_max = 5;  // the largest it ever had
  std::uint64_t dedup_window_us = 120 * kSecond;
  bool may_expire = false;
  bool may_drop = false;
  bool may_wait = false;          // overflow block: a publish is accepted later than it is received
  std::uint64_t emptied_at = 0;   // event: last purge or deletion that may have happened
  std::uint64_t emptied_us = 0;   // the same
  std::uint64_t replayed_at = 0;  // event: last replay that may have happened, out of it or into it
  std::uint64_t acks = 0;         // confirmed
  std::uint64_t maybe_acks = 0;
  std::uint64_t entered = 0;                      // confirmed publishes
  bool deleted = false;                           // at some time, so that its counters are not those of all its life
  std::map<std::string, std::uint64_t> counters;  // as last told
  std::uint64_t counted_at = 0;                   // event: when that was asked for
  std::uint64_t counted_life = 0;                 // of the broker
  // Certainly ready, in order of delivery: (9 - priority, id), with the turn since when.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<Copy*, std::uint64_t>> ready;
  bool order_unknown = false;
  std::uint64_t unclear_us = 0;  // somebody who took from it went then, perhaps with messages that were never told
  std::uint64_t furthest_turn = 0;
  std::pair<std::uint64_t, std::uint64_t> furthest;  // handed out in that turn
};

// So that nothing depends on addresses.
struct ByName {
  bool operator()(const Queue* a, const Queue* b) const { return a->name < b->name; }
};

struct Consumer {
  Queue* queue = nullptr;  // nullptr: unnamed subscription
  std::string pattern;     // its
  bool exact = true;       // every grant is known to have been taken
  bool open = true;
  std::uint64_t granted_messages = 0;
  std::uint64_t granted_bytes = 0;
  std::uint64_t used_messages = 0;
  std::uint64_t used_bytes = 0;
  std::map<std::uint64_t, std::uint64_t>
      last_first;  // by priority: the highest id that it was given for the first time
};

// A request that was received, until it is answered.
struct Pending {
  std::uint64_t turn = 0;
  std::uint64_t at = 0;  // event
  enum class Kind : std::uint8_t { request, consume, cancel, settle } kind = Kind::request;
  std::string verb;
  wire::Map arguments;
  std::uint64_t consumer = 0;
  struct Part {
    std::uint64_t lease = 0;
    bool must_be_stale = false;
    bool must_be_live = false;
    bool changes = false;           // this frame's settlement is the one that the lease waits for
    std::uint64_t extended_us = 0;  // the deadline that it asked for
  };
  std::vector<Part> parts;
};

struct Session {
  std::uint64_t number = 0;
  std::string producer;  // 16 bytes, or empty
  bool ended = false;
  bool closing = false;  // the broker knows that the connection is gone
  bool hostile = false;  // its frames follow no rule
  std::uint64_t last_lease = 0;
  std::map<std::uint64_t, Consumer> consumers;
  std::vector<std::uint64_t> leases;         // that it ever got
  std::map<std::uint64_t, Pending> pending;  // by request
  struct Publication {
    Sent* sent;
    std::uint64_t turn;
  };
  std::map<std::uint64_t, Publication> unconfirmed;  // by sequence
};

// What a payload holds behind the serial; made from it, so that nobody has to keep payloads.
std::string payload_of(std::uint64_t serial, std::size_t bytes);
bool is_payload_of(std::uint64_t serial, std::string_view payload);

// `pattern` as in spec/topics.md.
bool matches(std::string_view pattern, std::string_view topic);

}  // namespace sluice::sim
