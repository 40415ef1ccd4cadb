#pragma once
// model/state.h: what the model knows: plain values in lists and maps, found by looking at each.
//
// Source   spec/semantics.md

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/random.h"
#include "told.h"
#include "wire/frames.h"

namespace sluice::model {

struct Rules {
  std::uint64_t lease_ms = 30'000;
  std::uint64_t max_attempts = 5;
  std::uint64_t backoff_initial_ms = 1'000;
  double backoff_factor = 2.0;
  std::uint64_t backoff_max_ms = 300'000;
  double backoff_jitter = 0.2;
  std::uint64_t max_messages = 0;
  std::uint64_t max_bytes = 0;
  std::string overflow = "reject";
  std::uint64_t block_timeout_ms = 5'000;
  std::uint64_t ttl_ms = 0;
  std::string on_expiry = "dead_letter";
  std::uint64_t dedup_window_ms = 120'000;
  std::uint64_t dead_letter_max = 10'000;
  bool durable = false;
  friend bool operator==(const Rules&, const Rules&) = default;
};

// `base` with the keys of `map` replaced; nullopt: bad_policy.
std::optional<Rules> read_rules(const wire::Map& map, const Rules& base);
wire::Map to_map(const Rules& rules);
std::uint64_t backoff(const Rules& rules, std::uint64_t attempts, engine::Random& random);

enum class State { ready, delayed, leased };

struct Tries {
  std::uint64_t deliveries = 0;
  std::uint64_t nacks = 0;
  std::uint64_t expiries = 0;
  std::uint64_t disconnects = 0;
  std::uint64_t releases = 0;
  std::uint64_t attempts() const { return nacks + expiries + disconnects; }
};

struct Death {
  std::string origin;
  std::string reason;
  std::uint64_t at_ms = 0;  // wall
  Tries tries;              // as they were
};

struct Message {
  std::uint64_t id = 0;
  std::uint64_t position = 0;  // no two messages have the same, in whatever queues
  std::uint64_t priority = 4;
  std::uint64_t published_ms = 0;  // wall
  std::string payload;
  std::string headers;
  State state = State::ready;
  std::uint64_t due_ms = 0;  // delayed
  std::optional<std::uint64_t> expires_ms;
  std::uint64_t expiry_set = 0;  // when in the order of all times that were set
  Tries tries;
  std::string error;
  bool suspect = false;
  std::optional<Death> death;
  std::uint64_t size() const { return payload.size() + headers.size(); }
};

struct Lease {
  std::uint64_t number = 0;
  std::uint64_t consumer = 0;  // Consumer::key
  std::string queue;
  std::uint64_t position = 0;
  std::uint64_t ends_ms = 0;
  std::uint64_t ends_latest_ms = 0;
  std::uint64_t set = 0;
};

struct Consumer {
  std::uint64_t key = 0;  // ours: a number may be used again after a cancel
  std::uint64_t session = 0;
  std::uint64_t number = 0;
  std::string queue;
  std::uint64_t credit_messages = 0;
  std::int64_t credit_bytes = 0;
  std::uint64_t served = 0;  // rises with each delivery; the least has waited longest
  bool alone = false;
  bool reserved = false;
  bool cancelled = false;
  std::uint64_t cancelled_as = 0;  // in order of cancels
  bool owns_queue = false;         // an unnamed subscription
};

// A publish, as the model keeps it: the frame is gone when it is decided.
struct Publishing {
  std::string target;
  bool topic = false;
  std::string payload;
  std::string headers;
  std::uint64_t delay_ms = 0;
  std::uint64_t priority = 4;
  std::uint64_t ttl_ms = 0;
  std::string key;
  std::uint64_t size() const { return payload.size() + headers.size(); }
};

struct Waiting {
  std::uint64_t order = 0;  // of publishing
  std::uint64_t session = 0;
  std::uint64_t sequence = 0;
  Publishing publishing;
  std::uint64_t until_ms = 0;
  std::uint64_t set = 0;
};

struct Key {
  std::string key;
  std::uint64_t id = 0;
  std::uint64_t at_ms = 0;
};

struct Queue {
  std::string name;
  Rules rules;
  bool paused = false;
  std::vector<Message> messages;      // by position
  std::vector<Waiting> waiting;       // by order of publishing
  std::vector<Key> keys;              // by time
  std::vector<std::string> patterns;  // sorted
  std::map<std::string, std::uint64_t> counters;

  std::uint64_t bytes() const;
  std::uint64_t count(State state) const;
  bool is_dead_letters() const;
};

struct Producer {
  bool known = false;
  std::uint64_t last = 0;
  std::map<std::uint64_t, Answer> answers;
  std::set<std::uint64_t> missing;  // waited, and were forgotten with their session
};

struct Session {
  std::string producer;  // its name, or one that no other session has
  std::uint64_t unconfirmed_messages = 0;
  std::vector<std::pair<std::uint64_t, Answer>> answers;  // of this turn: one each time that a sequence is sent
};

// What peers are told of a dead letter; empty for a message that was published to the dead-letter queue.
wire::Map dead_map(const Message& message);
bool is_dead_letter_name(const std::string& name);
// By the rules of spec/topics.md.
bool is_queue_name(const std::string& name);
bool is_topic(const std::string& topic);
bool is_pattern(const std::string& pattern);
bool pattern_matches(const std::string& pattern, const std::string& topic);

}  // namespace sluice::model
