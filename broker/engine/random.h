#pragma once
// engine/random.h: the engine's only source of chance; seeded, so that a run can be repeated.

#include <cstdint>

namespace sluice::engine {

// SplitMix64 (Steele, Lea, Flood 2014): enough for jitter, one word of state.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // Uniform in [-1, 1].
  double symmetric() { return static_cast<double>(next() >> 11) * (2.0 / 9007199254740991.0) - 1.0; }

 private:
  std::uint64_t state_;
};

}  // namespace sluice::engine
