#include "cli/bench/sequence_set.h"

namespace sluice::cli {

SequenceSet::~SequenceSet() {
  for (auto& chunk : *chunks_) delete chunk.load(std::memory_order_acquire);
}

bool SequenceSet::insert(std::uint64_t sequence) {
  const std::uint64_t within = sequence & ((std::uint64_t{1} << kChunkBits) - 1);
  const std::uint64_t bit = std::uint64_t{1} << (within & 63);
  return (chunk(sequence >> kChunkBits)[within >> 6].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

SequenceSet::Chunk& SequenceSet::chunk(std::uint64_t index) {
  std::atomic<Chunk*>& slot = (*chunks_)[index];
  Chunk* present = slot.load(std::memory_order_acquire);
  if (present != nullptr) return *present;
  auto fresh = std::make_unique<Chunk>();
  if (slot.compare_exchange_strong(present, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
  return *present;  // another thread was faster
}

}  // namespace sluice::cli
