#pragma once
// sim/random.h: one stream of chance. Streams of one seed are independent: drawing more of one leaves the others as they were.

#include <cstddef>
#include <cstdint>

#include "engine/random.h"

namespace sluice::sim {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t salt)
      : random_(engine::Random(seed * 0x2545f4914f6cdd1dULL + salt).next()) {}

  std::uint64_t next() { return random_.next(); }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  template <class T, std::size_t N>
  const T& one_of(const T (&items)[N]) {
    return items[below(N)];
  }

 private:
  engine::Random random_;
};

}  // namespace sluice::sim
