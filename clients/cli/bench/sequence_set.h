#pragma once
// cli/bench/sequence_set.h: which sequences of one producer have been seen; a bit each.
//
// Threads  insert() from any thread.
// Units    up to 2^36 sequences; memory grows in chunks of 128 KiB as they are reached.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace sluice::cli {

class SequenceSet {
 public:
  SequenceSet() : chunks_(std::make_unique<Chunks>()) {}
  ~SequenceSet();
  SequenceSet(const SequenceSet&) = delete;
  SequenceSet& operator=(const SequenceSet&) = delete;

  static constexpr std::uint64_t kSequencesMax = std::uint64_t{1} << 36;

  // True if it was not there. REQUIRES: sequence < kSequencesMax.
  bool insert(std::uint64_t sequence);

 private:
  static constexpr std::uint64_t kChunkBits = 20;
  using Chunk = std::array<std::atomic<std::uint64_t>, (std::size_t{1} << kChunkBits) / 64>;
  using Chunks = std::array<std::atomic<Chunk*>, (kSequencesMax >> kChunkBits)>;

  Chunk& chunk(std::uint64_t index);

  std::unique_ptr<Chunks> chunks_;
};

}  // namespace sluice::cli
