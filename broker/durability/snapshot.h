#pragma once
// durability/snapshot.h: the engine's things as the values of full records.
//
// Units    a journal's times are Unix time; the engine's timers run on the steady scale. Both are known at one moment, Now.
// Source   spec/journal.md section 5.

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/counters.h"
#include "engine/message.h"
#include "engine/now.h"
#include "engine/policy.h"
#include "engine/records.h"
#include "record/record.h"

namespace sluice::durability {

inline std::uint64_t wall_ms(std::uint64_t steady_ms, const engine::Now& now) {
  if (steady_ms >= now.steady_ms) return now.wall_ms + (steady_ms - now.steady_ms);
  const std::uint64_t ago_ms = now.steady_ms - steady_ms;
  return now.wall_ms > ago_ms ? now.wall_ms - ago_ms : 1;  // 0 would say that there is no such time
}

// What has passed is `now` itself.
inline std::uint64_t steady_ms(std::uint64_t wall_ms, const engine::Now& now) {
  return wall_ms > now.wall_ms ? now.steady_ms + (wall_ms - now.wall_ms) : now.steady_ms;
}

record::Policy to_record(const engine::Policy& policy);
engine::Policy from_record(const record::Policy& policy);
std::vector<std::uint64_t> to_record(const engine::Counters& counters);
engine::Counters from_record(const std::vector<std::uint64_t>& counters);
record::Cause to_record(engine::Cause cause);
engine::Cause from_record(record::Cause cause);
record::Reason to_record(engine::DeadReason reason);
engine::DeadReason from_record(record::Reason reason);
record::How to_record(engine::Ended how);

// Of a body, headers first.
std::uint32_t checksum(std::string_view headers, std::string_view payload);

// 0: it is ready, or leased.
std::uint64_t due_ms(const engine::Message& message, const engine::Now& now);
// 0: never.
std::uint64_t expires_ms(const engine::Message& message, const engine::Now& now);
// Views into the message.
record::Copy copy_of(const engine::Message& message, const engine::Now& now);

}  // namespace sluice::durability
