#include "cli/bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice::cli {

// Values below 128 have a bucket each; above, the highest bit chooses the row and the next 7 bits the place in it.
std::size_t Histogram::bucket_of(std::uint64_t value) {
  if (value < kLinear) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kLinearBits - 1;
  return (std::size_t{shift} << kLinearBits) + (value >> shift);
}

std::uint64_t Histogram::middle_of(std::size_t bucket) {
  if (bucket < 2 * kLinear) return bucket;
  const std::size_t shift = (bucket >> kLinearBits) - 1;
  const std::uint64_t low = (bucket - (shift << kLinearBits)) << shift;
  return low + ((std::uint64_t{1} << shift) >> 1);
}

std::uint64_t Histogram::percentile(double part) const {
  const std::uint64_t total = count();
  if (total == 0) return 0;
  const double rank = std::ceil(part * static_cast<double>(total));
  const std::uint64_t wanted = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(rank, 1.0)), 1, total);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[bucket].load(std::memory_order_relaxed);
    if (seen >= wanted) return std::min(middle_of(bucket), max());
  }
  return max();
}

void Histogram::add(const Histogram& other) {
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
    bump(buckets_[bucket], other.buckets_[bucket].load(std::memory_order_relaxed));
  bump(count_, other.count());
  max_.store(std::max(max(), other.max()), std::memory_order_relaxed);
}

void Histogram::subtract(const Histogram& earlier) {
  std::uint64_t count = 0;
  std::uint64_t highest = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint64_t left =
        buckets_[bucket].load(std::memory_order_relaxed) - earlier.buckets_[bucket].load(std::memory_order_relaxed);
    buckets_[bucket].store(left, std::memory_order_relaxed);
    count += left;
    if (left > 0) highest = middle_of(bucket);
  }
  count_.store(count, std::memory_order_relaxed);
  max_.store(std::min(max(), highest), std::memory_order_relaxed);
}

}  // namespace sluice::cli
