#pragma once
// engine/now.h: the only time that a turn sees.
//
// Units    whole ms, of a finer clock: steady_ms and wall_ms are rounded down, and read when the turn begins; a command may come
//          later in it. Whether something is due is asked of steady_ms, which has certainly been reached. What may not come early
//          counts from moment_ms(), which certainly has not been passed.
// Source   spec/semantics.md "Resolution".

#include <cstdint>

namespace sluice::engine {

struct Now {
  std::uint64_t steady_ms = 0;  // monotonic; every running timer is on this scale
  std::uint64_t wall_ms = 0;    // Unix time; only told to people and kept for restarts
  std::uint64_t since_ms = 0;   // from steady_ms to the moment itself, rounded up

  std::uint64_t moment_ms() const { return steady_ms + since_ms; }
};

}  // namespace sluice::engine
