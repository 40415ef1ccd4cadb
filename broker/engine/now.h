#pragma once
// engine/now.h: the only time that a turn sees.

#include <cstdint>

namespace sluice::engine {

struct Now {
  std::uint64_t steady_ms = 0;  // monotonic; every running timer is on this scale
  std::uint64_t wall_ms = 0;    // Unix time; only told to people and kept for restarts
};

}  // namespace sluice::engine
