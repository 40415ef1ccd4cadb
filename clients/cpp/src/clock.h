#pragma once
// clients/cpp/clock.h: the client's one time scale.

#include <chrono>
#include <cstdint>
#include <ctime>

namespace sluice::internal {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

// Clock's scale, up to a few milliseconds late and five times cheaper: for checks that are made once a message.
inline TimePoint coarse_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace sluice::internal
