#pragma once
// journal/segment_format.h: the headers of segments and batches, as bytes and as values.
//
// Place    under scan, writer and reader; pure.
// Source   spec/journal.md sections 1 to 3. Stored: never renumber, never reuse.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "journal/journal.h"

namespace sluice::journal {

constexpr std::size_t kSegmentHeaderBytes = 64;
constexpr std::size_t kBatchHeaderBytes = 56;
constexpr std::size_t kAlignment = 8;
constexpr std::size_t kSectorBytes = 512;  // what a disk writes whole or not at all
constexpr std::uint32_t kFormat = 1;
constexpr std::uint64_t kSegmentBytesMax = 0xFFFF'FFFF;
constexpr std::uint32_t kLastOfSegment = 1;  // BatchHeader::flags
constexpr std::string_view kLockName = "lock";

struct SegmentHeader {
  std::uint64_t journal = 0;
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
  std::uint64_t first_sequence = 0;  // 0: not in use yet
  std::uint32_t chain = 0;
  std::uint32_t bytes = 0;  // of the whole file
};

struct BatchHeader {
  std::uint64_t first_sequence = 0;
  std::uint64_t durable = 0;
  std::uint32_t turns = 0;
  std::uint32_t length = 0;
  std::uint32_t body_crc = 0;
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t flags = 0;
  std::uint32_t oldest = 0;  // the first segment that is needed
  std::uint32_t crc = 0;     // header_crc; filled in by decoding and by encoding
};

using SegmentHeaderBytes = std::span<std::byte, kSegmentHeaderBytes>;
using BatchHeaderBytes = std::span<std::byte, kBatchHeaderBytes>;

void encode(const SegmentHeader& header, SegmentHeaderBytes into);
// Sets header.crc. `journal` goes into the checksum, so that no other journal's batch, and nothing that a message holds, passes for one of ours.
void encode(BatchHeader& header, std::uint64_t journal, BatchHeaderBytes into);

// A segment of a format that is not known here.
bool is_other_format(std::span<const std::byte, kSegmentHeaderBytes> bytes);
// The error is a reason for people.
tl::expected<SegmentHeader, std::string> decode_segment(std::span<const std::byte, kSegmentHeaderBytes> bytes);
// nullopt: magic or checksum do not fit.
std::optional<BatchHeader> decode_batch(std::span<const std::byte, kBatchHeaderBytes> bytes, std::uint64_t journal);

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
// What a batch takes in its segment.
constexpr std::uint64_t batch_bytes(std::uint64_t body_bytes) { return kBatchHeaderBytes + padded(body_bytes); }

constexpr Location location(std::uint32_t segment, std::uint64_t offset) {
  return Location{std::uint64_t{segment} << 32 | offset};
}
constexpr std::uint32_t segment_of(Location at) { return static_cast<std::uint32_t>(raw(at) >> 32); }
constexpr std::uint64_t offset_of(Location at) { return raw(at) & 0xFFFF'FFFF; }

std::string segment_name(std::uint32_t index);      // "0000000001.segment"
std::string new_segment_name(std::uint32_t index);  // "0000000001.segment.new"
// nullopt: no segment's name.
std::optional<std::uint32_t> segment_index(std::string_view name);
bool is_new_segment_name(std::string_view name);

// As fast as memory is read.
bool all_zero(std::span<const std::byte> bytes);

}  // namespace sluice::journal
