#pragma once
// record/record.h: what a journal's records say, as values.
//
// Place    recorder -> [record] -> journal -> [record] -> restorer, and the tools that look at a journal without a broker.
// Shapes   plain numbers: the journal's own, not the engine's types. Texts, bytes and lists are views into the bytes that were
//          decoded, or into what the caller holds while encoding; nobody here owns them.
// Units    milliseconds (Unix time where it is a moment), bytes.
// Source   spec/journal.md section 5. Stored: never renumber.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "record/list.h"

namespace sluice::record {

enum class Type : std::uint8_t {
  marks = 1,
  queue = 2,
  queue_deleted = 3,
  bound = 4,
  unbound = 5,
  published = 6,
  message = 7,
  delivered = 8,
  ended = 9,
  returned = 10,
  dead_lettered = 11,
  replayed = 12,
  producer = 13,
  refused = 14,
  producer_gone = 15,
  dedup_key = 16,
  opened = 17,
  closed = 18,
  accepted = 19,
};

enum class How : std::uint8_t { acked = 1, purged = 2, dropped = 3, expired = 4 };
enum class Cause : std::uint8_t { none = 0, nack = 1, lease_ran_out = 2, holder_gone = 3, release = 4, reject = 5 };
enum class Reason : std::uint8_t { rejected = 1, attempts = 2, overflow = 3, expired = 4 };
enum class State : std::uint8_t { ready = 0, delayed = 1, leased = 2 };
enum class Overflow : std::uint8_t { reject = 0, block = 1, drop_oldest = 2, dead_letter_oldest = 3 };
enum class OnExpiry : std::uint8_t { dead_letter = 0, drop = 1 };

inline constexpr std::uint8_t kPriorityDefault = 4;
inline constexpr std::uint8_t kPriorityMax = 9;

struct Policy {
  std::uint64_t lease_ms = 0;
  std::uint64_t max_attempts = 0;
  std::uint64_t backoff_initial_ms = 0;
  double backoff_factor = 0;
  std::uint64_t backoff_max_ms = 0;
  double backoff_jitter = 0;
  std::uint64_t max_messages = 0;
  std::uint64_t max_bytes = 0;
  Overflow overflow = Overflow::reject;
  std::uint64_t block_timeout_ms = 0;
  std::uint64_t ttl_ms = 0;
  OnExpiry on_expiry = OnExpiry::dead_letter;
  std::uint64_t dedup_window_ms = 0;
  std::uint64_t dead_letter_max = 0;

  friend bool operator==(const Policy&, const Policy&) = default;
};

// Headers and payload, and where they begin (headers first) in the bytes that the reader was given; with the location of
// those bytes that is the message's location. offset means nothing while encoding.
struct Body {
  std::string_view headers;
  std::string_view payload;
  std::size_t offset = 0;

  // Where it stands is not what it is.
  friend bool operator==(const Body& a, const Body& b) { return a.headers == b.headers && a.payload == b.payload; }
};

struct Marks {
  std::uint64_t next_id = 0;
  std::uint64_t next_key = 0;
  std::uint64_t next_lease = 0;
  std::uint64_t next_queue = 0;
  std::uint64_t next_producer = 0;

  friend bool operator==(const Marks&, const Marks&) = default;
};

struct Queue {
  std::uint64_t queue = 0;
  std::string_view name;
  bool paused = false;
  bool temporary = false;
  bool durable = true;  // its messages are kept
  Policy policy;
  std::vector<std::uint64_t> counters;  // in the order of spec/journal.md; those of a later version stand behind

  friend bool operator==(const Queue&, const Queue&) = default;
};

struct QueueDeleted {
  std::uint64_t queue = 0;

  friend bool operator==(const QueueDeleted&, const QueueDeleted&) = default;
};

struct Bound {
  std::uint64_t queue = 0;
  std::string_view pattern;

  friend bool operator==(const Bound&, const Bound&) = default;
};

struct Unbound {
  std::uint64_t queue = 0;
  std::string_view pattern;

  friend bool operator==(const Unbound&, const Unbound&) = default;
};

struct PublishedMessage {
  std::uint8_t priority = kPriorityDefault;
  std::uint64_t due_ms = 0;      // 0: ready at once
  std::uint64_t expires_ms = 0;  // 0: never
  std::string_view dedup_key;    // empty: none
  Body body;

  friend bool operator==(const PublishedMessage&, const PublishedMessage&) = default;
};

struct Published {
  std::uint64_t queue = 0;
  std::uint64_t first_key = 0;
  std::uint64_t first_id = 0;
  std::uint64_t published_ms = 0;
  std::uint64_t producer = 0;
  std::uint64_t first_sequence = 0;
  List<PublishedMessage> messages;  // at least one

  friend bool operator==(const Published&, const Published&) = default;
};

struct Counts {
  std::uint64_t deliveries = 0;
  std::uint64_t nacks = 0;
  std::uint64_t expiries = 0;
  std::uint64_t disconnects = 0;
  std::uint64_t releases = 0;
  std::uint64_t restarts = 0;

  friend bool operator==(const Counts&, const Counts&) = default;
};

struct Death {
  Reason reason = Reason::rejected;
  std::string_view origin;
  std::uint64_t at_ms = 0;
  Counts counts;  // as they were when it died

  friend bool operator==(const Death&, const Death&) = default;
};

// A message in one queue.
struct Copy {
  std::uint64_t queue = 0;
  std::uint64_t key = 0;
  std::uint64_t position = 0;
  State state = State::ready;
  std::uint64_t due_ms = 0;
  std::uint64_t expires_ms = 0;
  bool suspect = false;
  bool fresh = false;  // "new": the queue's `enqueued` counts it
  Counts counts;
  std::string_view error;
  std::optional<Death> death;

  friend bool operator==(const Copy&, const Copy&) = default;
};

struct Message {
  std::uint64_t id = 0;
  std::uint64_t published_ms = 0;
  std::uint8_t priority = kPriorityDefault;
  std::uint64_t producer = 0;
  std::uint64_t sequence = 0;
  std::string_view topic;
  std::string_view dedup_key;
  Body body;
  List<Copy> copies;  // at least one

  friend bool operator==(const Message&, const Message&) = default;
};

struct Delivered {
  std::uint64_t first_key = 0;
  std::uint64_t first_lease = 0;
  std::uint64_t count = 0;

  friend bool operator==(const Delivered&, const Delivered&) = default;
};

struct Ended {
  How how = How::acked;
  std::uint64_t first_key = 0;
  std::uint64_t count = 0;

  friend bool operator==(const Ended&, const Ended&) = default;
};

struct Returned {
  std::uint64_t key = 0;
  Cause cause = Cause::nack;  // not none
  bool suspect = false;
  std::uint64_t due_ms = 0;
  std::string_view error;

  friend bool operator==(const Returned&, const Returned&) = default;
};

struct DeadLettered {
  std::uint64_t key = 0;
  Cause cause = Cause::none;  // none: it was not leased
  std::uint64_t queue = 0;
  std::uint64_t position = 0;
  Reason reason = Reason::rejected;
  std::string_view origin;
  std::uint64_t at_ms = 0;
  std::string_view error;

  friend bool operator==(const DeadLettered&, const DeadLettered&) = default;
};

struct Replayed {
  std::uint64_t key = 0;
  std::uint64_t queue = 0;
  std::uint64_t position = 0;

  friend bool operator==(const Replayed&, const Replayed&) = default;
};

struct AcceptedRange {
  std::uint64_t first_sequence = 0;
  std::uint64_t first_id = 0;
  std::uint64_t count = 0;

  friend bool operator==(const AcceptedRange&, const AcceptedRange&) = default;
};

struct RefusedRange {
  std::uint64_t first_sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t error = 0;  // its number in spec/errors.json
  std::string_view text;

  friend bool operator==(const RefusedRange&, const RefusedRange&) = default;
};

struct Producer {
  std::uint64_t producer = 0;
  std::string_view name;
  std::uint64_t last_sequence = 0;
  std::vector<AcceptedRange> accepted;
  std::vector<RefusedRange> refused;

  friend bool operator==(const Producer&, const Producer&) = default;
};

struct Refused {
  std::uint64_t producer = 0;
  RefusedRange range;

  friend bool operator==(const Refused&, const Refused&) = default;
};

struct Accepted {
  std::uint64_t producer = 0;
  AcceptedRange range;

  friend bool operator==(const Accepted&, const Accepted&) = default;
};

struct ProducerGone {
  std::uint64_t producer = 0;

  friend bool operator==(const ProducerGone&, const ProducerGone&) = default;
};

struct DedupKey {
  std::uint64_t queue = 0;  // 0: the keys of all topics
  std::string_view key;
  std::uint64_t id = 0;
  std::uint64_t at_ms = 0;

  friend bool operator==(const DedupKey&, const DedupKey&) = default;
};

struct Opened {
  std::uint64_t at_ms = 0;

  friend bool operator==(const Opened&, const Opened&) = default;
};

struct Closed {
  std::uint64_t at_ms = 0;

  friend bool operator==(const Closed&, const Closed&) = default;
};

// In the order of Type.
using Record =
    std::variant<Marks, Queue, QueueDeleted, Bound, Unbound, Published, Message, Delivered, Ended, Returned,
                 DeadLettered, Replayed, Producer, Refused, ProducerGone, DedupKey, Opened, Closed, Accepted>;
inline constexpr std::size_t kTypeCount = std::variant_size_v<Record>;

inline Type type_of(const Record& record) { return static_cast<Type>(record.index() + 1); }

// Of Queue::counters, in their order.
std::span<const std::string_view> counter_names();

// The names of spec/journal.md.
std::string_view name(Type type);
std::optional<Type> find_type(std::string_view name);
std::string_view name(How how);
std::string_view name(Cause cause);
std::string_view name(Reason reason);
std::string_view name(State state);
std::string_view name(Overflow overflow);
std::string_view name(OnExpiry on_expiry);

}  // namespace sluice::record
