#include "cli/bench/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

using sluice::cli::Histogram;

namespace {

std::uint64_t exact(const std::vector<std::uint64_t>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void check_within_one_percent(std::vector<std::uint64_t> values) {
  auto histogram = std::make_unique<Histogram>();
  for (const std::uint64_t value : values) histogram->record(value);
  std::sort(values.begin(), values.end());
  REQUIRE(histogram->count() == values.size());
  CHECK(histogram->max() == values.back());
  for (const double part : {0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto wanted = static_cast<double>(exact(values, part));
    CAPTURE(part);
    CHECK(std::abs(static_cast<double>(histogram->percentile(part)) - wanted) <= wanted * 0.01);
  }
}

}  // namespace

TEST_CASE("histogram: nothing recorded is zero everywhere") {
  const auto histogram = std::make_unique<Histogram>();
  CHECK(histogram->count() == 0);
  CHECK(histogram->percentile(0.99) == 0);
  CHECK(histogram->max() == 0);
}

TEST_CASE("histogram: one value is every percentile") {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{255},
        std::uint64_t{256}, std::uint64_t{1'000'003}, std::uint64_t{UINT64_MAX}}) {
    auto histogram = std::make_unique<Histogram>();
    histogram->record(value);
    CAPTURE(value);
    CHECK(histogram->max() == value);
    const auto found = static_cast<double>(histogram->percentile(0.5));
    CHECK(std::abs(found - static_cast<double>(value)) <= static_cast<double>(value) * 0.01);
  }
}

TEST_CASE("histogram: percentiles are within one percent of the sorted values") {
  std::mt19937_64 random(42);
  std::vector<std::uint64_t> latencies;
  std::lognormal_distribution<double> skewed(12, 2);
  for (int i = 0; i < 100'000; ++i) latencies.push_back(static_cast<std::uint64_t>(skewed(random)));
  check_within_one_percent(latencies);
  std::vector<std::uint64_t> small;
  for (int i = 0; i < 10'000; ++i) small.push_back(random() % 300);
  check_within_one_percent(small);
  std::vector<std::uint64_t> all_sizes;
  for (int i = 0; i < 100'000; ++i) all_sizes.push_back(random() >> (random() % 64));
  check_within_one_percent(all_sizes);
}

TEST_CASE("histogram: every bucket border is counted in order") {
  std::vector<std::uint64_t> borders;
  for (unsigned shift = 0; shift < 63; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    for (const std::uint64_t value : {power - 1, power, power + 1}) borders.push_back(value);
  }
  check_within_one_percent(borders);
}

TEST_CASE("histogram: the sum of two has the values of both") {
  auto low = std::make_unique<Histogram>();
  auto high = std::make_unique<Histogram>();
  for (std::uint64_t i = 1; i <= 100; ++i) {
    low->record(i);
    high->record(i * 1'000'000);
  }
  low->add(*high);
  CHECK(low->count() == 200);
  CHECK(low->percentile(0.5) == 100);
  CHECK(low->max() == 100'000'000);
}

TEST_CASE("histogram: subtracting an earlier state leaves what came since") {
  auto all = std::make_unique<Histogram>();
  for (int i = 0; i < 1'000; ++i) all->record(10);
  const auto before = std::make_unique<Histogram>(*all);
  for (int i = 0; i < 10; ++i) all->record(5'000);
  auto since = std::make_unique<Histogram>(*all);
  since->subtract(*before);
  CHECK(since->count() == 10);
  CHECK(since->percentile(0.01) == since->percentile(0.99));
  CHECK(std::abs(static_cast<double>(since->percentile(0.5)) - 5'000) <= 50);
}
