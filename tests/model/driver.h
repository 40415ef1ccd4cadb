#pragma once
// model/driver.h: drives engine and model with the commands of one seed, and compares them.
//
// Errors   throws Mismatch.
// Threads  one.

#include <cstdint>
#include <deque>
#include <string>

#include "corners.h"

namespace sluice::model {

struct Run {
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;        // commands
  std::uint64_t whole_every = 1;  // turns between comparisons of everything
  bool trace = false;
  bool journal = false;          // behind the engine, and read back when everything is compared
  std::uint64_t step = 0;        // out: the last one
  std::deque<std::string> last;  // out, with trace: the last commands
};

void drive(Run& run, Corners& corners);

}  // namespace sluice::model
