#pragma once
// wire/frames.h: the frames of the protocol as values.
//
// Place    session -> [decode] -> engine, and engine -> outbox -> [encode] -> socket; clients/cpp the other way round.
// Shapes   one struct a frame, named as in spec/protocol.md section 4, fields in the order of the spec.
// Units    *_ms milliseconds, *_bytes bytes, priority 0 to 9.
// Owns     nothing: text and bytes of hot frames are views into the decoded buffer, which must outlive them.
//          What is not hot (options, requests, errors) owns its text.
// Source   spec/protocol.md sections 4 to 10.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "wire/value.h"

namespace sluice::wire {

inline constexpr std::uint64_t kProtocolVersion = 1;

// Stored in clients and in captures: never renumber.
enum class FrameType : std::uint8_t {
  heartbeat = 1,
  bye = 2,
  hello = 3,
  publish = 4,
  consume = 5,
  cancel = 6,
  settle = 7,
  request = 8,
  error = 32,
  welcome = 33,
  confirm = 34,
  reply = 35,
  deliver = 36,
  lease_lost = 37,
  consumer_closed = 38,
  settled = 39,
  draining = 40,
};

enum class Verb : std::uint8_t { ack = 1, nack = 2, release = 3, reject = 4, extend = 5 };
enum class PublishKind : std::uint8_t { queue = 0, topic = 1 };

inline constexpr std::uint8_t kPriorityDefault = 4;
inline constexpr std::uint8_t kPriorityMax = 9;

struct Heartbeat {
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

struct Bye {
  std::uint64_t code = 0;  // 0 or an ErrorCode
  std::string text;
  friend bool operator==(const Bye&, const Bye&) = default;
};

struct Hello {
  std::uint64_t protocol = kProtocolVersion;
  std::string client;
  std::string agent;
  std::string producer;  // empty or 16 bytes
  std::optional<std::uint64_t> heartbeat_ms;
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct PublishMessage {
  std::string_view payload;
  std::string_view headers;  // one encoded map, or empty
  std::uint64_t delay_ms = 0;
  std::uint8_t priority = kPriorityDefault;
  std::uint64_t ttl_ms = 0;    // 0: none of its own
  std::string_view dedup_key;  // empty: none
  friend bool operator==(const PublishMessage&, const PublishMessage&) = default;
};

struct Publish {
  std::string_view queue;
  std::uint64_t first_sequence = 0;
  std::vector<PublishMessage> messages;
  PublishKind kind = PublishKind::queue;
  friend bool operator==(const Publish&, const Publish&) = default;
};

struct Consume {
  std::uint64_t request = 0;
  std::uint64_t consumer = 0;
  std::string_view queue;
  std::uint64_t credit_messages = 0;
  std::uint64_t credit_bytes = 0;
  std::string_view topic;  // a pattern: the queue is made for this consumer and goes with it; `queue` is empty then
  Map policy;              // of that queue
  friend bool operator==(const Consume&, const Consume&) = default;
};

struct Cancel {
  std::uint64_t request = 0;
  std::uint64_t consumer = 0;
  friend bool operator==(const Cancel&, const Cancel&) = default;
};

struct Settlement {
  Verb verb = Verb::ack;
  std::uint64_t first_lease = 0;
  std::uint64_t last_lease = 0;
  std::string_view reason;                // nack, reject
  std::optional<std::uint64_t> delay_ms;  // nack
  std::optional<std::uint64_t> lease_ms;  // extend
  friend bool operator==(const Settlement&, const Settlement&) = default;
};

struct Grant {
  std::uint64_t consumer = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Grant&, const Grant&) = default;
};

struct Settle {
  std::optional<std::uint64_t> request;
  std::vector<Settlement> settlements;
  std::vector<Grant> grants;
  friend bool operator==(const Settle&, const Settle&) = default;
};

struct Request {
  std::uint64_t request = 0;
  std::string verb;
  Map arguments;
  friend bool operator==(const Request&, const Request&) = default;
};

// The `error` array of the spec.
struct ErrorBody {
  std::uint64_t code = 0;
  std::string name;
  std::string text;
  bool retry = false;
  std::uint64_t retry_after_ms = 0;
  friend bool operator==(const ErrorBody&, const ErrorBody&) = default;
};

struct ErrorFrame {
  ErrorBody error;
  std::optional<std::uint64_t> request;
  friend bool operator==(const ErrorFrame&, const ErrorFrame&) = default;
};

struct Welcome {
  std::uint64_t protocol = kProtocolVersion;
  std::uint64_t session = 0;
  std::string broker;
  std::uint64_t heartbeat_ms = 0;
  std::uint64_t publish_messages = 0;
  std::uint64_t publish_bytes = 0;
  std::uint64_t frame_bytes_max = 0;
  std::uint64_t credit_messages_max = 0;
  std::uint64_t credit_bytes_max = 0;
  std::string sync;
  std::uint64_t producer_sequence = 0;
  std::vector<std::string> features;
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

struct Accepted {
  std::uint64_t first_sequence = 0;
  std::uint64_t first_id = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Accepted&, const Accepted&) = default;
};

struct Refused {
  std::uint64_t first_sequence = 0;
  std::uint64_t count = 0;
  ErrorBody error;
  friend bool operator==(const Refused&, const Refused&) = default;
};

struct Confirm {
  std::uint64_t up_to = 0;
  std::vector<Accepted> accepted;
  std::vector<Refused> refused;
  friend bool operator==(const Confirm&, const Confirm&) = default;
};

struct Reply {
  std::uint64_t request = 0;
  std::optional<Map> result;  // exactly one of the two
  std::optional<ErrorBody> error;
  friend bool operator==(const Reply&, const Reply&) = default;
};

struct Delivery {
  std::uint64_t id = 0;
  std::uint64_t count = 1;
  std::string_view payload;
  std::string_view headers;  // one encoded map, or empty
  std::uint8_t priority = kPriorityDefault;
  std::uint64_t attempts = 0;
  std::string_view dead;  // one encoded map (decode with decode_map), or empty
  friend bool operator==(const Delivery&, const Delivery&) = default;
};

struct Deliver {
  std::uint64_t consumer = 0;
  std::uint64_t first_lease = 0;
  std::uint64_t lease_ms = 0;
  std::vector<Delivery> deliveries;
  friend bool operator==(const Deliver&, const Deliver&) = default;
};

struct LeaseRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const LeaseRange&, const LeaseRange&) = default;
};

struct LeaseLost {
  std::uint64_t consumer = 0;
  std::vector<LeaseRange> ranges;
  std::uint64_t code = 0;
  friend bool operator==(const LeaseLost&, const LeaseLost&) = default;
};

struct ConsumerClosed {
  std::uint64_t consumer = 0;
  ErrorBody error;
  friend bool operator==(const ConsumerClosed&, const ConsumerClosed&) = default;
};

struct SettleException {
  std::uint64_t first_lease = 0;
  std::uint64_t last_lease = 0;
  std::uint64_t code = 0;
  friend bool operator==(const SettleException&, const SettleException&) = default;
};

struct Settled {
  std::optional<std::uint64_t> request;
  std::vector<SettleException> exceptions;
  friend bool operator==(const Settled&, const Settled&) = default;
};

struct Draining {
  std::uint64_t deadline_ms = 0;
  friend bool operator==(const Draining&, const Draining&) = default;
};

// What a broker can receive, and what a client can receive.
using ClientFrame = std::variant<Heartbeat, Bye, Hello, Publish, Consume, Cancel, Settle, Request>;
using BrokerFrame = std::variant<Heartbeat, Bye, ErrorFrame, Welcome, Confirm, Reply, Deliver, LeaseLost,
                                 ConsumerClosed, Settled, Draining>;

}  // namespace sluice::wire
