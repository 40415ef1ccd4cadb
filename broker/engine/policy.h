#pragma once
// engine/policy.h: what a queue promises, and its ranges.
//
// Units    ms, bytes, messages.
// Errors   bad_policy, whose text names the key, the rule and the value.
// Source   spec/semantics.md "Policy".

#include <cstdint>

#include "base/error.h"
#include "engine/random.h"
#include "wire/value.h"

namespace sluice::engine {

// What a full queue does with a publish.
enum class Overflow : std::uint8_t { reject, block, drop_oldest, dead_letter_oldest };
// What becomes of a message that expired. In a dead-letter queue it is dropped in any case.
enum class OnExpiry : std::uint8_t { dead_letter, drop };

struct Policy {
  std::uint64_t lease_ms = 30'000;
  std::uint64_t max_attempts = 5;
  std::uint64_t backoff_initial_ms = 1'000;
  double backoff_factor = 2.0;
  std::uint64_t backoff_max_ms = 300'000;
  double backoff_jitter = 0.2;
  std::uint64_t max_messages = 0;  // 0: no limit
  std::uint64_t max_bytes = 0;     // 0: no limit
  Overflow overflow = Overflow::reject;
  std::uint64_t block_timeout_ms = 5'000;
  std::uint64_t ttl_ms = 0;  // of messages without one of their own; 0: none
  OnExpiry on_expiry = OnExpiry::dead_letter;
  std::uint64_t dedup_window_ms = 120'000;  // 0: keys are not remembered
  std::uint64_t dead_letter_max = 10'000;
  bool durable = false;  // what is published to it outlives the broker; needs a journal

  friend bool operator==(const Policy&, const Policy&) = default;
};

inline constexpr std::uint64_t kLeaseMsMin = 100;
inline constexpr std::uint64_t kLeaseMsMax = 86'400'000;
inline constexpr std::uint64_t kLeaseTotalMsMax = 12ULL * 3'600'000;

// `base` with the keys of `map` replaced.
Result<Policy> read_policy(const wire::Map& map, const Policy& base);
wire::Map to_map(const Policy& policy);

// How long a message waits after its attempt number `attempts` (from 1) failed.
std::uint64_t backoff_ms(const Policy& policy, std::uint64_t attempts, Random& random);

}  // namespace sluice::engine
