#include "record/encode.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "record/layout.h"

namespace sluice::record {
namespace {

// Writes into room that is known to be enough.
class Put {
 public:
  explicit Put(std::byte* at) : at_(at) {}

  Put& u8(std::uint8_t value) {
    *at_++ = std::byte{value};
    return *this;
  }
  template <class Enum>
  Put& choice(Enum value) {
    return u8(static_cast<std::uint8_t>(value));
  }
  Put& u32(std::uint32_t value) { return fixed(value, 4); }
  Put& f64(double value) {
    SLUICE_CHECK(std::isfinite(value));
    return fixed(std::bit_cast<std::uint64_t>(value), 8);
  }
  Put& n(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) u8(static_cast<std::uint8_t>(value | 0x80U));
    return u8(static_cast<std::uint8_t>(value));
  }
  Put& bytes(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());  // an empty view may point nowhere
    at_ += bytes.size();
    return *this;
  }
  Put& s(std::string_view text) { return n(text.size()).bytes(text); }
  std::byte* at() const { return at_; }

 private:
  Put& fixed(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) u8(static_cast<std::uint8_t>(value >> (8 * i)));
    return *this;
  }

  std::byte* at_;
};

constexpr std::size_t numbers(std::size_t count) { return count * kNumberBytesMax; }
constexpr std::size_t text_bytes(std::string_view text) { return kNumberBytesMax + text.size(); }

std::size_t bytes_max(const Copy& copy) {
  return numbers(13) + 3 + text_bytes(copy.error) + (copy.death ? 1 + text_bytes(copy.death->origin) + numbers(7) : 0);
}

Put& put(Put& out, const Counts& counts) {
  return out.n(counts.deliveries)
      .n(counts.nacks)
      .n(counts.expiries)
      .n(counts.disconnects)
      .n(counts.releases)
      .n(counts.restarts);
}

void put(Put& out, const Copy& copy) {
  out.n(copy.queue).n(copy.key).n(copy.position).choice(copy.state).n(copy.due_ms).n(copy.expires_ms);
  out.u8(static_cast<std::uint8_t>((copy.suspect ? kCopySuspect : 0) | (copy.fresh ? kCopyNew : 0)));
  put(out, copy.counts).s(copy.error).u8(copy.death ? 1 : 0);
  if (!copy.death) return;
  out.choice(copy.death->reason).s(copy.death->origin).n(copy.death->at_ms);
  put(out, copy.death->counts);
}

void put(Put& out, const Policy& policy) {
  out.n(policy.lease_ms).n(policy.max_attempts).n(policy.backoff_initial_ms).f64(policy.backoff_factor);
  out.n(policy.backoff_max_ms).f64(policy.backoff_jitter).n(policy.max_messages).n(policy.max_bytes);
  out.choice(policy.overflow).n(policy.block_timeout_ms).n(policy.ttl_ms).choice(policy.on_expiry);
  out.n(policy.dedup_window_ms).n(policy.dead_letter_max);
}

constexpr std::size_t kPolicyBytesMax = numbers(10) + 2 * 8 + 2;

void put(Put& out, const AcceptedRange& range) {
  SLUICE_CHECK(range.count > 0);
  out.n(range.first_sequence).n(range.first_id).n(range.count);
}

void put(Put& out, const RefusedRange& range) {
  SLUICE_CHECK(range.count > 0);
  out.n(range.first_sequence).n(range.count).n(range.error).s(range.text);
}

}  // namespace

std::span<const std::byte> RecordWriter::bytes() const {
  SLUICE_CHECK(!in_published());
  return buffer_.bytes();
}

void RecordWriter::clear() {
  buffer_.clear();
  run_ = kNoRun;
}

std::byte* RecordWriter::begin(Type type, std::size_t bytes) {
  SLUICE_CHECK(!in_published());
  std::byte* const head = buffer_.room(kHeadBytes + bytes);
  *head = static_cast<std::byte>(type);
  return head + kHeadBytes;
}

void RecordWriter::end(std::size_t record, const std::byte* end) {
  const std::size_t length = static_cast<std::size_t>(end - buffer_.data()) - record - kHeadBytes;
  SLUICE_CHECK(length <= kRecordBytesMax);
  Put(buffer_.data() + record + 1).u32(static_cast<std::uint32_t>(length));
  buffer_.commit(end);
}

void RecordWriter::begin_published(std::uint64_t queue, std::uint64_t first_key, std::uint64_t first_id,
                                   std::uint64_t published_ms, std::uint64_t producer, std::uint64_t first_sequence) {
  const std::size_t record = buffer_.size();
  Put out(begin(Type::published, numbers(6) + 4));
  out.n(queue).n(first_key).n(first_id).n(published_ms).n(producer).n(first_sequence);
  run_count_ = static_cast<std::size_t>(out.at() - buffer_.data());
  buffer_.commit(out.u32(0).at());
  run_ = record;
  run_messages_ = 0;
}

std::size_t RecordWriter::add_message(std::uint8_t priority, std::uint64_t due_ms, std::uint64_t expires_ms,
                                      std::string_view dedup_key, std::string_view headers, std::string_view payload) {
  SLUICE_CHECK(in_published() && priority <= kPriorityMax);
  const std::size_t bytes = 2 + numbers(4) + text_bytes(dedup_key) + headers.size() + payload.size();
  Put out(buffer_.room(bytes));
  const std::uint8_t flags = flags_of(priority, due_ms, expires_ms, dedup_key);
  out.u8(flags);
  if ((flags & kHasPriority) != 0) out.u8(priority);
  if ((flags & kHasDue) != 0) out.n(due_ms);
  if ((flags & kHasExpires) != 0) out.n(expires_ms);
  if ((flags & kHasDedupKey) != 0) out.s(dedup_key);
  out.n(headers.size()).n(payload.size());
  const auto body = static_cast<std::size_t>(out.at() - buffer_.data());
  buffer_.commit(out.bytes(headers).bytes(payload).at());
  ++run_messages_;
  return body;
}

void RecordWriter::end_published() {
  SLUICE_CHECK(in_published() && run_messages_ > 0);
  Put(buffer_.data() + run_count_).u32(run_messages_);
  end(run_, buffer_.data() + buffer_.size());
  run_ = kNoRun;
}

std::size_t RecordWriter::message(const Message& message, std::span<const Copy> copies) {
  SLUICE_CHECK(!copies.empty() && message.priority <= kPriorityMax);
  const Body& body = message.body;
  std::size_t bytes = numbers(8) + 1 + text_bytes(message.topic) + text_bytes(message.dedup_key) + body.headers.size() +
                      body.payload.size();
  for (const Copy& copy : copies) bytes += bytes_max(copy);
  const std::size_t record = buffer_.size();
  Put out(begin(Type::message, bytes));
  out.n(message.id).n(message.published_ms).u8(message.priority).n(message.producer).n(message.sequence);
  out.s(message.topic).s(message.dedup_key).n(body.headers.size()).n(body.payload.size());
  const auto offset = static_cast<std::size_t>(out.at() - buffer_.data());
  out.bytes(body.headers).bytes(body.payload).n(copies.size());
  for (const Copy& copy : copies) put(out, copy);
  end(record, out.at());
  return offset;
}

void RecordWriter::marks(const Marks& marks) {
  const std::size_t record = buffer_.size();
  Put out(begin(Type::marks, numbers(5)));
  out.n(marks.next_id).n(marks.next_key).n(marks.next_lease).n(marks.next_queue).n(marks.next_producer);
  end(record, out.at());
}

void RecordWriter::queue(const Queue& queue) {
  const std::size_t record = buffer_.size();
  Put out(begin(Type::queue, numbers(2 + queue.counters.size()) + text_bytes(queue.name) + 1 + kPolicyBytesMax));
  const int flags = (queue.paused ? kQueuePaused : 0) | (queue.temporary ? kQueueTemporary : 0) |
                    (queue.durable ? 0 : kQueueNotDurable);
  out.n(queue.queue).s(queue.name).u8(static_cast<std::uint8_t>(flags));
  put(out, queue.policy);
  out.n(queue.counters.size());
  for (const std::uint64_t counter : queue.counters) out.n(counter);
  end(record, out.at());
}

void RecordWriter::queue_deleted(std::uint64_t queue) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::queue_deleted, numbers(1))).n(queue).at());
}

void RecordWriter::bound(std::uint64_t queue, std::string_view pattern) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::bound, numbers(1) + text_bytes(pattern))).n(queue).s(pattern).at());
}

void RecordWriter::unbound(std::uint64_t queue, std::string_view pattern) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::unbound, numbers(1) + text_bytes(pattern))).n(queue).s(pattern).at());
}

void RecordWriter::delivered(std::uint64_t first_key, std::uint64_t first_lease, std::uint64_t count) {
  SLUICE_CHECK(count > 0);
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::delivered, numbers(3))).n(first_key).n(first_lease).n(count).at());
}

void RecordWriter::ended(How how, std::uint64_t first_key, std::uint64_t count) {
  SLUICE_CHECK(count > 0);
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::ended, 1 + numbers(2))).choice(how).n(first_key).n(count).at());
}

void RecordWriter::returned(const Returned& returned) {
  SLUICE_CHECK(returned.cause != Cause::none);
  const std::size_t record = buffer_.size();
  Put out(begin(Type::returned, 2 + numbers(2) + text_bytes(returned.error)));
  out.n(returned.key).choice(returned.cause).u8(returned.suspect ? kReturnedSuspect : std::uint8_t{0});
  end(record, out.n(returned.due_ms).s(returned.error).at());
}

void RecordWriter::dead_lettered(const DeadLettered& dead) {
  const std::size_t record = buffer_.size();
  Put out(begin(Type::dead_lettered, 2 + numbers(4) + text_bytes(dead.origin) + text_bytes(dead.error)));
  out.n(dead.key).choice(dead.cause).n(dead.queue).n(dead.position).choice(dead.reason);
  end(record, out.s(dead.origin).n(dead.at_ms).s(dead.error).at());
}

void RecordWriter::replayed(std::uint64_t key, std::uint64_t queue, std::uint64_t position) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::replayed, numbers(3))).n(key).n(queue).n(position).at());
}

void RecordWriter::producer(std::uint64_t producer, std::string_view name, std::uint64_t last_sequence,
                            std::span<const AcceptedRange> accepted, std::span<const RefusedRange> refused) {
  std::size_t bytes = numbers(4 + 3 * accepted.size()) + text_bytes(name);
  for (const RefusedRange& range : refused) bytes += numbers(3) + text_bytes(range.text);
  const std::size_t record = buffer_.size();
  Put out(begin(Type::producer, bytes));
  out.n(producer).s(name).n(last_sequence).n(accepted.size());
  for (const AcceptedRange& range : accepted) put(out, range);
  out.n(refused.size());
  for (const RefusedRange& range : refused) put(out, range);
  end(record, out.at());
}

void RecordWriter::refused(std::uint64_t producer, const RefusedRange& range) {
  const std::size_t record = buffer_.size();
  Put out(begin(Type::refused, numbers(4) + text_bytes(range.text)));
  put(out.n(producer), range);
  end(record, out.at());
}

void RecordWriter::accepted(std::uint64_t producer, const AcceptedRange& range) {
  const std::size_t record = buffer_.size();
  Put out(begin(Type::accepted, numbers(4)));
  put(out.n(producer), range);
  end(record, out.at());
}

void RecordWriter::producer_gone(std::uint64_t producer) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::producer_gone, numbers(1))).n(producer).at());
}

void RecordWriter::dedup_key(std::uint64_t queue, std::string_view key, std::uint64_t id, std::uint64_t at_ms) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::dedup_key, numbers(3) + text_bytes(key))).n(queue).s(key).n(id).n(at_ms).at());
}

void RecordWriter::opened(std::uint64_t at_ms) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::opened, numbers(1))).n(at_ms).at());
}

void RecordWriter::closed(std::uint64_t at_ms) {
  const std::size_t record = buffer_.size();
  end(record, Put(begin(Type::closed, numbers(1))).n(at_ms).at());
}

}  // namespace sluice::record
