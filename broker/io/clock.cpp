#include "io/clock.h"

#include <ctime>

namespace sluice::io {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

// `more_ns`: 0 rounds down, kNsPerMs - 1 up.
std::uint64_t read_ms(clockid_t clock, std::uint64_t more_ns) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000 +
         (static_cast<std::uint64_t>(time.tv_nsec) + more_ns) / kNsPerMs;
}

}  // namespace

Time SystemClock::now() { return {read_ms(CLOCK_MONOTONIC, 0), read_ms(CLOCK_REALTIME, 0)}; }
std::uint64_t SystemClock::steady_ms_up() { return read_ms(CLOCK_MONOTONIC, kNsPerMs - 1); }

}  // namespace sluice::io
