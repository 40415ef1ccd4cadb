#pragma once
// cli/bench/progress.h: one line a second on stderr.

#include <cstdint>
#include <memory>

#include "cli/bench/histogram.h"

namespace sluice::cli {

struct Counts {
  std::uint64_t published = 0;
  std::uint64_t confirmed = 0;
  std::uint64_t acked = 0;
  double p99_us = 0;  // of the last interval
};

class Progress {
 public:
  Progress();
  // "  3 s  published ... confirmed ... acked ...  rate .../s  p99 ...": the rate is that of acks since the last line (of confirms
  // if nothing is consumed here).
  void line(const Counts& counts, bool consuming);

 private:
  std::uint64_t started_ns_;
  std::uint64_t last_ns_;
  std::uint64_t last_count_ = 0;
};

// The p99 of what was recorded between two calls.
class IntervalLatency {
 public:
  double p99_us(const Histogram& all);

 private:
  std::unique_ptr<Histogram> before_ = std::make_unique<Histogram>();
};

}  // namespace sluice::cli
