#include "io/clock.h"

#include <ctime>

namespace sluice::io {
namespace {

std::uint64_t read_ms(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1'000'000;
}

}  // namespace

Time SystemClock::now() { return {read_ms(CLOCK_MONOTONIC), read_ms(CLOCK_REALTIME)}; }

}  // namespace sluice::io
