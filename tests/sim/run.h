#pragma once
// sim/run.h: one seed from the first HELLO to the last check: trouble, then calm in which everything has to come right.

#include <string>

#include "settings.h"
#include "world.h"

namespace sluice::sim {

struct Outcome {
  std::uint64_t hash = 0;
  std::uint64_t operations = 0;
  std::uint64_t simulated_us = 0;
  Reached reached;
  std::string violation;  // empty: none
  std::deque<std::string> trace;
};

Outcome run(const Settings& settings, bool with_trace);

}  // namespace sluice::sim
