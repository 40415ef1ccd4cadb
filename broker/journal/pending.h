#pragma once
// journal/pending.h: what was appended and not yet written: batches, each with its place in the journal.
//
// Place    loop -> [pending] -> writer.
// Shapes   in: the records of a turn. out: batches in order, their body behind room for the header.
// Threads  any; one lock, held while bytes are copied.
// Source   spec/journal.md section 3. A batch ends when the writer takes it, when it is large, or with its segment: so the place of the
//          next append is always known, and no writing can change it.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "journal/journal.h"
#include "journal/segment_format.h"

namespace sluice::journal {

struct Batch {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t first_sequence = 0;
  std::uint32_t turns = 0;
  // Not 0: it has no records and ends its segment, and the next one has to have so many bytes.
  std::uint64_t next_segment_bytes = 0;
  std::vector<std::byte> bytes;  // kBatchHeaderBytes, then the body

  std::uint64_t body_bytes() const { return bytes.size() - kBatchHeaderBytes; }
};

// What every segment keeps free: its last batch, and a few empty ones before it (Writer::state_oldest).
constexpr std::uint64_t kSegmentReserveBytes = 8 * kBatchHeaderBytes;
constexpr std::uint64_t kBatchBodyBytesMax = 1 << 20;  // of several turns; one turn may be larger

class Pending {
 public:
  struct Start {
    std::uint32_t segment = 0;
    std::uint64_t offset = 0;
    std::uint64_t segment_end = 0;  // of its usable bytes
    std::uint64_t sequence = 0;     // of the next turn
  };
  Pending(Start start, std::uint64_t segment_bytes);
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  Appended append(std::span<const std::byte> records);
  // Bytes of records that this segment can still take; 0 when what is appended goes to a later one already.
  std::uint64_t left_in(std::uint32_t segment) const;
  // An empty batch, if nothing else is there to be written.
  void add_empty();
  std::optional<Batch> take();
  // Gives a taken batch's memory back.
  void reuse(std::vector<std::byte> bytes);

 private:
  bool fits(std::uint64_t more_bytes) const;
  void begin();
  void seal();
  void end_segment(std::uint64_t more_bytes);

  mutable std::mutex mutex_;
  const std::uint64_t segment_bytes_;
  std::uint64_t segment_end_;
  std::uint64_t sequence_;  // of the next turn
  Batch open_;
  std::deque<Batch> sealed_;
  std::vector<std::vector<std::byte>> free_;
};

}  // namespace sluice::journal
