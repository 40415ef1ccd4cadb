#include "cli/bench/sequence_set.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

using sluice::cli::SequenceSet;

TEST_CASE("sequence set: each sequence is new once, across chunk borders and far apart") {
  SequenceSet set;
  const std::array<std::uint64_t, 8> sequences{
      0, 1, 63, 64, (1u << 20) - 1, 1u << 20, 5'000'000'000, SequenceSet::kSequencesMax - 1};
  for (const std::uint64_t sequence : sequences) CHECK(set.insert(sequence));
  for (const std::uint64_t sequence : sequences) CHECK_FALSE(set.insert(sequence));
}

TEST_CASE("sequence set: of two threads that insert the same, one is first") {
  SequenceSet set;
  constexpr std::uint64_t kCount = 3'000'000;
  std::atomic<std::uint64_t> fresh{0};
  const auto work = [&] {
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < kCount; ++i) mine += set.insert(i) ? 1U : 0U;
    fresh += mine;
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(fresh == kCount);
}
