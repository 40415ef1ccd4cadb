#include "journal/segment_format.h"

#include <array>
#include <charconv>
#include <cstring>

#include "base/crc32c.h"

namespace sluice::journal {
namespace {

constexpr std::string_view kMagic = "SLUICEJ";
constexpr std::uint32_t kBatchMagic = 0x31424C53;  // "SLB1"
constexpr std::string_view kSuffix = ".segment";
constexpr std::string_view kNewSuffix = ".segment.new";
constexpr std::size_t kDigits = 10;
constexpr std::size_t kSegmentCrcAt = 60;
constexpr std::size_t kBatchCrcedAt = 8;  // behind magic and header_crc

class Puts {
 public:
  explicit Puts(std::span<std::byte> into) : into_(into) {}
  void u32(std::uint32_t value) { put(value, 4); }
  void u64(std::uint64_t value) { put(value, 8); }

 private:
  void put(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) into_[at_++] = static_cast<std::byte>(value >> (8 * i));
  }
  std::span<std::byte> into_;
  std::size_t at_ = 0;
};

class Gets {
 public:
  explicit Gets(std::span<const std::byte> from) : from_(from) {}
  std::uint32_t u32() { return static_cast<std::uint32_t>(get(4)); }
  std::uint64_t u64() { return get(8); }

 private:
  std::uint64_t get(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(from_[at_++]) << (8 * i);
    return value;
  }
  std::span<const std::byte> from_;
  std::size_t at_ = 0;
};

std::uint32_t batch_crc(std::span<const std::byte, kBatchHeaderBytes> bytes, std::uint64_t journal) {
  std::array<std::byte, 8> id{};
  Puts(id).u64(journal);
  return crc32c(bytes.subspan<kBatchCrcedAt>(), crc32c(id));
}

std::string numbered(std::uint32_t index, std::string_view suffix) {
  std::string digits = std::to_string(index);
  digits.insert(0, kDigits - digits.size(), '0');
  return digits.append(suffix);
}

std::optional<std::uint32_t> index_of(std::string_view name, std::string_view suffix) {
  if (name.size() != kDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  std::uint32_t index = 0;
  const char* end = name.data() + kDigits;
  const auto [at, error] = std::from_chars(name.data(), end, index);
  if (error != std::errc{} || at != end || index == 0) return std::nullopt;
  return index;
}

}  // namespace

void encode(const SegmentHeader& header, SegmentHeaderBytes into) {
  std::memset(into.data(), 0, into.size());
  std::memcpy(into.data(), kMagic.data(), kMagic.size());
  into[kMagic.size()] = std::byte{kFormat};
  Puts fields(into.subspan<8>());
  fields.u64(header.journal);
  fields.u32(header.index);
  fields.u32(header.epoch);
  fields.u64(header.first_sequence);
  fields.u32(header.chain);
  fields.u32(header.bytes);
  Puts(into.subspan<kSegmentCrcAt>()).u32(crc32c(into.first<kSegmentCrcAt>()));
}

bool is_other_format(std::span<const std::byte, kSegmentHeaderBytes> bytes) {
  return std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0 && bytes[kMagic.size()] != std::byte{kFormat};
}

tl::expected<SegmentHeader, std::string> decode_segment(std::span<const std::byte, kSegmentHeaderBytes> bytes) {
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return tl::unexpected(std::string("this is no segment of a journal (magic)"));
  const auto format = std::to_integer<std::uint32_t>(bytes[kMagic.size()]);
  if (format != kFormat)
    return tl::unexpected("format " + std::to_string(format) + " is not known here, only " + std::to_string(kFormat) +
                          ": a newer version wrote it, or it is damaged");
  if (Gets(bytes.subspan<kSegmentCrcAt>()).u32() != crc32c(bytes.first<kSegmentCrcAt>()))
    return tl::unexpected(std::string("the checksum of the segment's header does not fit"));
  Gets gets(bytes.subspan<8>());
  SegmentHeader header;
  header.journal = gets.u64();
  header.index = gets.u32();
  header.epoch = gets.u32();
  header.first_sequence = gets.u64();
  header.chain = gets.u32();
  header.bytes = gets.u32();
  return header;
}

void encode(BatchHeader& header, std::uint64_t journal, BatchHeaderBytes into) {
  Puts fields(into);
  fields.u32(kBatchMagic);
  fields.u32(0);
  fields.u64(header.first_sequence);
  fields.u64(header.durable);
  fields.u32(header.turns);
  fields.u32(header.length);
  fields.u32(header.body_crc);
  fields.u32(header.chain);
  fields.u32(header.epoch);
  fields.u32(header.flags);
  fields.u32(header.oldest);
  fields.u32(0);
  header.crc = batch_crc(into, journal);
  Puts(into.subspan<4>()).u32(header.crc);
}

std::optional<BatchHeader> decode_batch(std::span<const std::byte, kBatchHeaderBytes> bytes, std::uint64_t journal) {
  Gets gets(bytes);
  if (gets.u32() != kBatchMagic) return std::nullopt;
  BatchHeader header;
  header.crc = gets.u32();
  if (header.crc != batch_crc(bytes, journal)) return std::nullopt;
  header.first_sequence = gets.u64();
  header.durable = gets.u64();
  header.turns = gets.u32();
  header.length = gets.u32();
  header.body_crc = gets.u32();
  header.chain = gets.u32();
  header.epoch = gets.u32();
  header.flags = gets.u32();
  header.oldest = gets.u32();
  return header;
}

std::string segment_name(std::uint32_t index) { return numbered(index, kSuffix); }
std::string new_segment_name(std::uint32_t index) { return numbered(index, kNewSuffix); }
std::optional<std::uint32_t> segment_index(std::string_view name) { return index_of(name, kSuffix); }
bool is_new_segment_name(std::string_view name) { return index_of(name, kNewSuffix).has_value(); }

bool all_zero(std::span<const std::byte> bytes) {
  // The first one is zero and each equals the one before it.
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace sluice::journal
