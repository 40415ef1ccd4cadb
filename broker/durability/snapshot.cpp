#include "durability/snapshot.h"

#include <span>

#include "base/check.h"
#include "base/crc32c.h"
#include "engine/queue.h"

namespace sluice::durability {
namespace {

record::Counts counts_of(const engine::Message& message) {
  record::Counts counts;
  counts.deliveries = message.deliveries;
  if (message.extras == nullptr) return counts;
  counts.nacks = message.extras->nacks;
  counts.expiries = message.extras->expiries;
  counts.disconnects = message.extras->disconnects;
  counts.releases = message.extras->releases;
  counts.restarts = message.extras->restarts;
  return counts;
}

record::Death death_of(const engine::Extras& past) {
  record::Death death;
  death.reason = to_record(past.reason);
  death.origin = past.origin;
  death.at_ms = past.dead_at_ms;
  death.counts.deliveries = past.dead_deliveries;
  death.counts.nacks = past.dead_nacks;
  death.counts.expiries = past.dead_expiries;
  death.counts.disconnects = past.dead_disconnects;
  death.counts.releases = past.dead_releases;
  death.counts.restarts = past.dead_restarts;
  return death;
}

record::State state_of(engine::MessageState state) {
  switch (state) {
    case engine::MessageState::ready:
      return record::State::ready;
    case engine::MessageState::delayed:
      return record::State::delayed;
    case engine::MessageState::leased:
      return record::State::leased;
  }
  return record::State::ready;
}

}  // namespace

record::Policy to_record(const engine::Policy& policy) {
  record::Policy out;
  out.lease_ms = policy.lease_ms;
  out.max_attempts = policy.max_attempts;
  out.backoff_initial_ms = policy.backoff_initial_ms;
  out.backoff_factor = policy.backoff_factor;
  out.backoff_max_ms = policy.backoff_max_ms;
  out.backoff_jitter = policy.backoff_jitter;
  out.max_messages = policy.max_messages;
  out.max_bytes = policy.max_bytes;
  out.overflow = static_cast<record::Overflow>(policy.overflow);
  out.block_timeout_ms = policy.block_timeout_ms;
  out.ttl_ms = policy.ttl_ms;
  out.on_expiry = static_cast<record::OnExpiry>(policy.on_expiry);
  out.dedup_window_ms = policy.dedup_window_ms;
  out.dead_letter_max = policy.dead_letter_max;
  return out;
}

engine::Policy from_record(const record::Policy& policy) {
  engine::Policy out;
  out.lease_ms = policy.lease_ms;
  out.max_attempts = policy.max_attempts;
  out.backoff_initial_ms = policy.backoff_initial_ms;
  out.backoff_factor = policy.backoff_factor;
  out.backoff_max_ms = policy.backoff_max_ms;
  out.backoff_jitter = policy.backoff_jitter;
  out.max_messages = policy.max_messages;
  out.max_bytes = policy.max_bytes;
  out.overflow = static_cast<engine::Overflow>(policy.overflow);
  out.block_timeout_ms = policy.block_timeout_ms;
  out.ttl_ms = policy.ttl_ms;
  out.on_expiry = static_cast<engine::OnExpiry>(policy.on_expiry);
  out.dedup_window_ms = policy.dedup_window_ms;
  out.dead_letter_max = policy.dead_letter_max;
  return out;
}

static_assert(static_cast<int>(engine::Overflow::reject) == static_cast<int>(record::Overflow::reject));
static_assert(static_cast<int>(engine::Overflow::block) == static_cast<int>(record::Overflow::block));
static_assert(static_cast<int>(engine::Overflow::drop_oldest) == static_cast<int>(record::Overflow::drop_oldest));
static_assert(static_cast<int>(engine::Overflow::dead_letter_oldest) ==
              static_cast<int>(record::Overflow::dead_letter_oldest));
static_assert(static_cast<int>(engine::OnExpiry::dead_letter) == static_cast<int>(record::OnExpiry::dead_letter));
static_assert(static_cast<int>(engine::OnExpiry::drop) == static_cast<int>(record::OnExpiry::drop));

std::vector<std::uint64_t> to_record(const engine::Counters& counters) {
  return {
#define SLUICE_COUNTER_VALUE(name) counters.name,
      SLUICE_COUNTERS(SLUICE_COUNTER_VALUE)
#undef SLUICE_COUNTER_VALUE
  };
}

engine::Counters from_record(const std::vector<std::uint64_t>& values) {
  engine::Counters counters;
  std::size_t next = 0;
  const auto take = [&] { return next < values.size() ? values[next++] : 0; };
#define SLUICE_COUNTER_TAKE(name) counters.name = take();
  SLUICE_COUNTERS(SLUICE_COUNTER_TAKE)
#undef SLUICE_COUNTER_TAKE
  return counters;
}

record::Cause to_record(engine::Cause cause) {
  switch (cause) {
    case engine::Cause::none:
      return record::Cause::none;
    case engine::Cause::nack:
      return record::Cause::nack;
    case engine::Cause::expiry:
      return record::Cause::lease_ran_out;
    case engine::Cause::disconnect:
      return record::Cause::holder_gone;
    case engine::Cause::release:
      return record::Cause::release;
    case engine::Cause::reject:
      return record::Cause::reject;
  }
  return record::Cause::none;
}

engine::Cause from_record(record::Cause cause) {
  switch (cause) {
    case record::Cause::none:
      return engine::Cause::none;
    case record::Cause::nack:
      return engine::Cause::nack;
    case record::Cause::lease_ran_out:
      return engine::Cause::expiry;
    case record::Cause::holder_gone:
      return engine::Cause::disconnect;
    case record::Cause::release:
      return engine::Cause::release;
    case record::Cause::reject:
      return engine::Cause::reject;
  }
  return engine::Cause::none;
}

record::Reason to_record(engine::DeadReason reason) {
  switch (reason) {
    case engine::DeadReason::rejected:
      return record::Reason::rejected;
    case engine::DeadReason::attempts:
      return record::Reason::attempts;
    case engine::DeadReason::overflow:
      return record::Reason::overflow;
    case engine::DeadReason::expired:
      return record::Reason::expired;
    case engine::DeadReason::none:
      break;
  }
  SLUICE_CHECK(reason != engine::DeadReason::none);
  return record::Reason::rejected;
}

engine::DeadReason from_record(record::Reason reason) {
  switch (reason) {
    case record::Reason::rejected:
      return engine::DeadReason::rejected;
    case record::Reason::attempts:
      return engine::DeadReason::attempts;
    case record::Reason::overflow:
      return engine::DeadReason::overflow;
    case record::Reason::expired:
      return engine::DeadReason::expired;
  }
  return engine::DeadReason::none;
}

record::How to_record(engine::Ended how) {
  switch (how) {
    case engine::Ended::acked:
      return record::How::acked;
    case engine::Ended::purged:
      return record::How::purged;
    case engine::Ended::dropped:
      return record::How::dropped;
    case engine::Ended::expired:
      return record::How::expired;
  }
  return record::How::acked;
}

std::uint32_t checksum(std::string_view headers, std::string_view payload) {
  return crc32c(std::as_bytes(std::span(payload)), crc32c(std::as_bytes(std::span(headers))));
}

std::uint64_t due_ms(const engine::Message& message, const engine::Now& now) {
  return message.state == engine::MessageState::delayed ? wall_ms(message.when_ms, now) : 0;
}

std::uint64_t expires_ms(const engine::Message& message, const engine::Now& now) {
  if (message.extras == nullptr || !message.extras->expiry.set) return 0;
  return wall_ms(message.extras->expiry.when_ms, now);
}

record::Copy copy_of(const engine::Message& message, const engine::Now& now) {
  record::Copy copy;
  copy.queue = message.queue->number;
  copy.key = message.kept().key;
  copy.position = message.position;
  copy.state = state_of(message.state);
  copy.due_ms = due_ms(message, now);
  copy.expires_ms = expires_ms(message, now);
  copy.suspect = message.suspect;
  copy.counts = counts_of(message);
  if (message.extras != nullptr) {
    copy.error = message.extras->error;
    if (message.extras->reason != engine::DeadReason::none) copy.death = death_of(*message.extras);
  }
  return copy;
}

}  // namespace sluice::durability
