#pragma once
// journal/tail.h: judges the place where no good batch is: the journal's end, a write that the power cut off, or damage.
//
// Place    scan -> [tail] -> Disk.
// Source   spec/journal.md section 4.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/disk.h"
#include "journal/scan.h"

namespace sluice::journal {

// What the next batch has to continue, and where.
struct Expected {
  std::uint64_t journal = 0;
  std::uint64_t sequence = 0;
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;  // of the batch before
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t segment_bytes = 0;
};

struct TailVerdict {
  std::optional<Damage> damage;
  std::optional<TornTail> torn;
  std::vector<SegmentInfo> spares;
};

// `later`: the indices of the segments behind, in order.
TailVerdict judge_tail(io::Disk& disk, io::File& file, const Expected& expected,
                       const std::vector<std::uint32_t>& later);

// Where the last byte that is not zero ends, from `offset` on; `offset` if all are zeros.
io::IoResult<std::uint64_t> end_of_bytes(io::File& file, std::uint64_t offset, std::uint64_t end);

// The first place from `offset` on, in steps of 8, where a batch header with a good checksum stands.
struct FoundBatch {
  std::uint64_t offset = 0;
  BatchHeader header;
};
io::IoResult<std::optional<FoundBatch>> find_batch(io::File& file, std::uint64_t journal, std::uint64_t offset,
                                                   std::uint64_t end);

// Reads and decodes the header of a segment's file, and compares what it can alone: index, size, and the journal if `journal` is given.
tl::expected<SegmentHeader, Damage> read_segment_header(io::Disk& disk, io::File& file, std::uint32_t index,
                                                        std::optional<std::uint64_t> journal);

}  // namespace sluice::journal
