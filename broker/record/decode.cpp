#include "record/decode.h"

#include <array>
#include <utility>

#include "record/fields.h"
#include "record/layout.h"

namespace sluice::record {
namespace {

Body read_body(Fields& fields) {
  const std::uint64_t headers_bytes = fields.n("headers_bytes");
  const std::uint64_t payload_bytes = fields.n("payload_bytes");
  Body body;
  body.offset = static_cast<std::size_t>(fields.at() - fields.base());
  body.headers = fields.bytes("headers", headers_bytes);
  body.payload = fields.bytes("payload", payload_bytes);
  return body;
}

void read(Fields& fields, PublishedMessage& out) {
  const std::uint8_t flags = fields.flags("message flags", kHasAll);
  out.priority = (flags & kHasPriority) != 0 ? fields.priority("priority") : kPriorityDefault;
  out.due_ms = (flags & kHasDue) != 0 ? fields.n("due_ms") : 0;
  out.expires_ms = (flags & kHasExpires) != 0 ? fields.n("expires_ms") : 0;
  out.dedup_key = (flags & kHasDedupKey) != 0 ? fields.s("dedup_key") : std::string_view();
  // One form for each meaning.
  if (flags != flags_of(out.priority, out.due_ms, out.expires_ms, out.dedup_key)) [[unlikely]]
    fields.stop("message flags", "must not announce a default:", flags);
  out.body = read_body(fields);
}

Counts read_counts(Fields& fields) {
  Counts counts;
  counts.deliveries = fields.n("deliveries");
  counts.nacks = fields.n("nacks");
  counts.expiries = fields.n("expiries");
  counts.disconnects = fields.n("disconnects");
  counts.releases = fields.n("releases");
  counts.restarts = fields.n("restarts");
  return counts;
}

Reason read_reason(Fields& fields) { return fields.choice("reason", Reason::rejected, Reason::expired); }

void read(Fields& fields, Copy& out) {
  out.queue = fields.n("queue");
  out.key = fields.n("key");
  out.position = fields.n("position");
  out.state = fields.choice("state", State::ready, State::leased);
  out.due_ms = fields.n("due_ms");
  out.expires_ms = fields.n("expires_ms");
  const std::uint8_t flags = fields.flags("copy flags", kCopySuspect | kCopyNew);
  out.suspect = (flags & kCopySuspect) != 0;
  out.fresh = (flags & kCopyNew) != 0;
  out.counts = read_counts(fields);
  out.error = fields.s("error");
  if (fields.flags("dead", 1) == 0) {
    out.death.reset();
    return;
  }
  Death& death = out.death.emplace();
  death.reason = read_reason(fields);
  death.origin = fields.s("origin");
  death.at_ms = fields.n("at_ms");
  death.counts = read_counts(fields);
}

// Reads each item once, and hands out where they are.
template <class Item>
List<Item> read_list(Fields& fields, std::uint64_t count) {
  const std::byte* const begin = fields.at();
  Item item;
  for (std::uint64_t i = 0; i < count && !fields.failed(); ++i) read(fields, item);
  if (fields.failed()) return {};
  return {fields.base(), begin, fields.end(), count};
}

void read(Fields& fields, Marks& out) {
  out.next_id = fields.n("next_id");
  out.next_key = fields.n("next_key");
  out.next_lease = fields.n("next_lease");
  out.next_queue = fields.n("next_queue");
  out.next_producer = fields.n("next_producer");
}

void read(Fields& fields, Policy& out) {
  out.lease_ms = fields.n("lease_ms");
  out.max_attempts = fields.n("max_attempts");
  out.backoff_initial_ms = fields.n("backoff_initial_ms");
  out.backoff_factor = fields.f64("backoff_factor");
  out.backoff_max_ms = fields.n("backoff_max_ms");
  out.backoff_jitter = fields.f64("backoff_jitter");
  out.max_messages = fields.n("max_messages");
  out.max_bytes = fields.n("max_bytes");
  out.overflow = fields.choice("overflow", Overflow::reject, Overflow::dead_letter_oldest);
  out.block_timeout_ms = fields.n("block_timeout_ms");
  out.ttl_ms = fields.n("ttl_ms");
  out.on_expiry = fields.choice("on_expiry", OnExpiry::dead_letter, OnExpiry::drop);
  out.dedup_window_ms = fields.n("dedup_window_ms");
  out.dead_letter_max = fields.n("dead_letter_max");
}

void read(Fields& fields, Queue& out) {
  out.queue = fields.n("queue");
  out.name = fields.s("name");
  const std::uint8_t flags = fields.flags("flags", kQueuePaused | kQueueTemporary | kQueueNotDurable);
  out.paused = (flags & kQueuePaused) != 0;
  out.temporary = (flags & kQueueTemporary) != 0;
  out.durable = (flags & kQueueNotDurable) == 0;
  read(fields, out.policy);
  out.counters.resize(static_cast<std::size_t>(fields.items("counters", fields.n("counters"), 1)));
  for (std::uint64_t& counter : out.counters) counter = fields.n("counters");
}

void read(Fields& fields, QueueDeleted& out) { out.queue = fields.n("queue"); }

template <class Binding>
void read_binding(Fields& fields, Binding& out) {
  out.queue = fields.n("queue");
  out.pattern = fields.s("pattern");
}
void read(Fields& fields, Bound& out) { read_binding(fields, out); }
void read(Fields& fields, Unbound& out) { read_binding(fields, out); }

void read(Fields& fields, Published& out) {
  out.queue = fields.n("queue");
  out.first_key = fields.n("first_key");
  out.first_id = fields.n("first_id");
  out.published_ms = fields.n("published_ms");
  out.producer = fields.n("producer");
  out.first_sequence = fields.n("first_sequence");
  const std::uint64_t count = fields.u32("count");
  fields.check_range("count", out.first_key, count);
  fields.check_range("count", out.first_id, count);
  fields.check_range("count", out.first_sequence, count);
  out.messages = read_list<PublishedMessage>(fields, fields.items("count", count, kMessageBytesMin));
}

void read(Fields& fields, Message& out) {
  out.id = fields.n("id");
  out.published_ms = fields.n("published_ms");
  out.priority = fields.priority("priority");
  out.producer = fields.n("producer");
  out.sequence = fields.n("sequence");
  out.topic = fields.s("topic");
  out.dedup_key = fields.s("dedup_key");
  out.body = read_body(fields);
  const std::uint64_t count = fields.range("count", 0);
  out.copies = read_list<Copy>(fields, fields.items("count", count, kCopyBytesMin));
}

void read(Fields& fields, Delivered& out) {
  out.first_key = fields.n("first_key");
  out.first_lease = fields.n("first_lease");
  out.count = fields.range("count", out.first_key);
  fields.check_range("count", out.first_lease, out.count);
}

void read(Fields& fields, Ended& out) {
  out.how = fields.choice("how", How::acked, How::expired);
  out.first_key = fields.n("first_key");
  out.count = fields.range("count", out.first_key);
}

void read(Fields& fields, Returned& out) {
  out.key = fields.n("key");
  out.cause = fields.choice("cause", Cause::nack, Cause::reject);
  out.suspect = fields.flags("flags", kReturnedSuspect) != 0;
  out.due_ms = fields.n("due_ms");
  out.error = fields.s("error");
}

void read(Fields& fields, DeadLettered& out) {
  out.key = fields.n("key");
  out.cause = fields.choice("cause", Cause::none, Cause::reject);
  out.queue = fields.n("queue");
  out.position = fields.n("position");
  out.reason = read_reason(fields);
  out.origin = fields.s("origin");
  out.at_ms = fields.n("at_ms");
  out.error = fields.s("error");
}

void read(Fields& fields, Replayed& out) {
  out.key = fields.n("key");
  out.queue = fields.n("queue");
  out.position = fields.n("position");
}

void read(Fields& fields, AcceptedRange& out) {
  out.first_sequence = fields.n("first_sequence");
  out.first_id = fields.n("first_id");
  out.count = fields.range("count", out.first_sequence);
  fields.check_range("count", out.first_id, out.count);
}

void read(Fields& fields, RefusedRange& out) {
  out.first_sequence = fields.n("first_sequence");
  out.count = fields.range("count", out.first_sequence);
  out.error = fields.n("error");
  out.text = fields.s("text");
}

// What there is room for is at most the bytes of the record; the items take more memory than they take bytes, so grow with them.
template <class Item>
void read_vector(Fields& fields, const char* field, std::size_t item_bytes, std::vector<Item>& out) {
  const std::uint64_t count = fields.items(field, fields.n(field), item_bytes);
  for (std::uint64_t i = 0; i < count && !fields.failed(); ++i) read(fields, out.emplace_back());
}

void read(Fields& fields, Producer& out) {
  out.producer = fields.n("producer");
  out.name = fields.s("name");
  out.last_sequence = fields.n("last_sequence");
  read_vector(fields, "accepted count", kAcceptedBytesMin, out.accepted);
  read_vector(fields, "refused count", kRefusedBytesMin, out.refused);
}

void read(Fields& fields, Refused& out) {
  out.producer = fields.n("producer");
  read(fields, out.range);
}

void read(Fields& fields, Accepted& out) {
  out.producer = fields.n("producer");
  read(fields, out.range);
}

void read(Fields& fields, ProducerGone& out) { out.producer = fields.n("producer"); }

void read(Fields& fields, DedupKey& out) {
  out.queue = fields.n("queue");
  out.key = fields.s("key");
  out.id = fields.n("id");
  out.at_ms = fields.n("at_ms");
}

void read(Fields& fields, Opened& out) { out.at_ms = fields.n("at_ms"); }
void read(Fields& fields, Closed& out) { out.at_ms = fields.n("at_ms"); }

template <std::size_t I>
void read_alternative(Fields& fields, std::optional<Record>& out) {
  read(fields, std::get<I>(out.emplace(std::in_place_index<I>)));
}

using ReadAlternative = void (*)(Fields&, std::optional<Record>&);

template <std::size_t... I>
constexpr std::array<ReadAlternative, sizeof...(I)> make_table(std::index_sequence<I...>) {
  return {read_alternative<I>...};
}

constexpr auto kReadByType = make_table(std::make_index_sequence<kTypeCount>());

}  // namespace

template <class Item>
const std::byte* read_item(const std::byte* base, const std::byte* at, const std::byte* end, Item& item) {
  Fields fields(base, at, end);
  read(fields, item);
  return fields.at();
}

template const std::byte* read_item(const std::byte*, const std::byte*, const std::byte*, PublishedMessage&);
template const std::byte* read_item(const std::byte*, const std::byte*, const std::byte*, Copy&);

bool RecordReader::fail(std::string text) {
  error_ = {offset(), std::move(text)};
  at_ = end_;
  return false;
}

std::optional<Record> RecordReader::next() {
  std::optional<Record> out;
  if (at_ != end_ && !read(out)) out.reset();
  return out;
}

bool RecordReader::read(std::optional<Record>& out) {
  record_ = at_;
  Fields head(base_, at_, end_);
  const std::uint8_t type = head.u8("type");
  const std::uint64_t length = head.u32("length");
  if (type == 0 || type > kTypeCount) return fail("type " + std::to_string(type) + " is not known");
  const auto type_name = [type] { return std::string(name(static_cast<Type>(type))); };
  if (head.failed()) return fail(type_name() + ": " + head.failure());
  if (length > head.left()) {
    return fail(type_name() + ": length: " + std::to_string(length) + " goes past the end, " +
                std::to_string(head.left()) + " bytes are left");
  }
  at_ = head.at() + length;
  Fields fields(base_, head.at(), at_);
  kReadByType[type - 1U](fields, out);
  fields.finish();
  if (fields.failed()) return fail(type_name() + ": " + fields.failure());
  return true;
}

}  // namespace sluice::record
