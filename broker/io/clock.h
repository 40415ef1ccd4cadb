#pragma once
// io/clock.h: time, behind an interface that the simulator implements too.

#include <cstdint>

namespace sluice::io {

// Rounded down.
struct Time {
  std::uint64_t steady_ms = 0;  // monotonic
  std::uint64_t wall_ms = 0;    // Unix time
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() = 0;
  // The monotonic time, rounded up: what counts from it does not come early.
  virtual std::uint64_t steady_ms_up() = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() override;
  std::uint64_t steady_ms_up() override;
};

}  // namespace sluice::io
