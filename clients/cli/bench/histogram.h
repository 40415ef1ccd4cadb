#pragma once
// cli/bench/histogram.h: counts of durations in buckets that grow with the value, so that percentiles are exact within 1 %.
//
// Shapes   128 linear buckets a power of two (as HdrHistogram with two digits): a bucket is at most 1/128 of its value wide.
// Units    nanoseconds, any unsigned 64-bit value.
// Threads  one thread records; any thread may read meanwhile and gets a count that is at most a moment old.

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice::cli {

class Histogram {
 public:
  Histogram() = default;
  Histogram(const Histogram& other) { add(other); }
  Histogram& operator=(const Histogram&) = delete;

  void record(std::uint64_t value) {
    bump(buckets_[bucket_of(value)], 1);
    bump(count_, 1);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }

  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  // Exact; 0 when empty.
  std::uint64_t max() const { return max_.load(std::memory_order_relaxed); }
  // The value that `part` (0 to 1) of all values do not exceed; 0 when empty.
  std::uint64_t percentile(double part) const;

  void add(const Histogram& other);
  // Without what `earlier` had already: the values since then. The maximum becomes that of the highest bucket left.
  void subtract(const Histogram& earlier);

 private:
  static constexpr unsigned kLinearBits = 7;
  static constexpr std::size_t kLinear = std::size_t{1} << kLinearBits;
  static constexpr std::size_t kBuckets = (64 - kLinearBits + 1) * kLinear;

  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t middle_of(std::size_t bucket);
  // One writer: no locked instruction is needed.
  static void bump(std::atomic<std::uint64_t>& cell, std::uint64_t by) {
    cell.store(cell.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> max_{0};
};

}  // namespace sluice::cli
