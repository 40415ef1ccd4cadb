#include "journal/pending.h"

#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"

namespace sluice::journal {
namespace {

constexpr std::size_t kFreeMax = 4;
constexpr std::size_t kFreeBytesMax = 2 * kBatchBodyBytesMax;

}  // namespace

Pending::Pending(Start start, std::uint64_t segment_bytes)
    : segment_bytes_(segment_bytes), segment_end_(start.segment_end), sequence_(start.sequence) {
  open_.segment = start.segment;
  open_.offset = start.offset;
  begin();
}

Appended Pending::append(std::span<const std::byte> records) {
  const std::lock_guard lock(mutex_);
  if (open_.turns > 0 && open_.body_bytes() + records.size() > kBatchBodyBytesMax) seal();
  if (!fits(records.size())) {
    if (open_.turns > 0) seal();
    end_segment(records.size());
    if (mutant("record_lost_at_rotation")) records = {};
  }
  const Location base = location(open_.segment, open_.offset + open_.bytes.size());
  open_.bytes.insert(open_.bytes.end(), records.begin(), records.end());
  ++open_.turns;
  return {Sequence{sequence_++}, base};
}

std::uint64_t Pending::left_in(std::uint32_t segment) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t used = open_.offset + batch_bytes(open_.body_bytes()) + kSegmentReserveBytes;
  return open_.segment == segment && used < segment_end_ ? segment_end_ - used : 0;
}

void Pending::add_empty() {
  const std::lock_guard lock(mutex_);
  if (open_.turns > 0 || !sealed_.empty()) return;
  if (fits(0)) {
    seal();
  } else {
    end_segment(0);
  }
}

std::optional<Batch> Pending::take() {
  const std::lock_guard lock(mutex_);
  if (sealed_.empty() && open_.turns > 0) seal();
  if (sealed_.empty()) return std::nullopt;
  Batch batch = std::move(sealed_.front());
  sealed_.pop_front();
  return batch;
}

void Pending::reuse(std::vector<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (free_.size() < kFreeMax && bytes.capacity() <= kFreeBytesMax) free_.push_back(std::move(bytes));
}

bool Pending::fits(std::uint64_t more_bytes) const {
  return open_.offset + batch_bytes(open_.body_bytes() + more_bytes) + kSegmentReserveBytes <= segment_end_;
}

// An empty one, at open_'s place.
void Pending::begin() {
  open_.first_sequence = sequence_;
  open_.turns = 0;
  open_.next_segment_bytes = 0;
  if (!free_.empty()) {
    open_.bytes = std::move(free_.back());
    free_.pop_back();
  } else {
    open_.bytes = {};
  }
  open_.bytes.resize(kBatchHeaderBytes);
}

void Pending::seal() {
  const std::uint32_t segment = open_.segment;
  const std::uint64_t next = open_.offset + batch_bytes(open_.body_bytes());
  sealed_.push_back(std::move(open_));
  open_.segment = segment;
  open_.offset = next;
  begin();
}

void Pending::end_segment(std::uint64_t more_bytes) {
  const std::uint64_t needed = kSegmentHeaderBytes + batch_bytes(more_bytes) + kSegmentReserveBytes;
  segment_end_ = std::max(segment_bytes_, needed);
  SLUICE_CHECK(segment_end_ <= kSegmentBytesMax);
  open_.next_segment_bytes = segment_end_;
  const std::uint32_t segment = open_.segment;
  sealed_.push_back(std::move(open_));
  open_.segment = segment + 1;
  open_.offset = kSegmentHeaderBytes;
  begin();
}

}  // namespace sluice::journal
