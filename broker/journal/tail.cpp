#include "journal/tail.h"

#include <algorithm>
#include <array>

#include "journal/window.h"

namespace sluice::journal {
namespace {

constexpr std::size_t kChunkBytes = 1 << 20;

// A sector that never reached the disk reads as the zeros that were reserved: the part of it that is the batch's counts.
bool has_sector_of_zeros(std::span<const std::byte> bytes, std::uint64_t offset) {
  for (std::size_t from = 0; from < bytes.size();) {
    const std::size_t to = std::min<std::size_t>(bytes.size(), from + kSectorBytes - (offset + from) % kSectorBytes);
    if (all_zero(bytes.subspan(from, to - from))) return true;
    from = to;
  }
  return false;
}

class Judge {
 public:
  Judge(io::Disk& disk, io::File& file, const Expected& expected, const std::vector<std::uint32_t>& later)
      : disk_(disk), file_(file), expected_(expected), later_(later) {}

  TailVerdict run() {
    for (const std::uint32_t index : later_)
      if (!look_at_later(index)) return std::move(verdict_);
    const auto end = end_of_bytes(file_, expected_.offset, expected_.segment_bytes);
    if (!end) return damage(end.error().text());
    if (*end == expected_.offset) return std::move(verdict_);
    // A header ends with zeros.
    if (!look_for_confirmed(std::min(*end + kBatchHeaderBytes, expected_.segment_bytes))) return std::move(verdict_);
    if (!look_at_batch()) return std::move(verdict_);
    verdict_.torn = TornTail{path(), expected_.offset, *end - expected_.offset};
    return std::move(verdict_);
  }

 private:
  std::string path() const { return disk_.path(segment_name(expected_.segment)); }

  TailVerdict damage(std::string reason) {
    verdict_.damage = Damage{DamageKind::damage, path(), expected_.offset, std::move(reason)};
    return std::move(verdict_);
  }
  bool refuse(std::string reason) {
    verdict_.damage = Damage{DamageKind::damage, path(), expected_.offset, std::move(reason)};
    return false;
  }
  bool refuse(Damage damage) {
    verdict_.damage = std::move(damage);
    return false;
  }

  // The segment before was synced to its end before anything but a header went into this one.
  bool look_at_later(std::uint32_t index) {
    const std::string name = segment_name(index);
    const auto file = disk_.open(name, io::OpenMode::read);
    if (!file) return refuse(Damage{DamageKind::damage, disk_.path(name), 0, file.error().text()});
    const auto header = read_segment_header(disk_, **file, index, expected_.journal);
    if (!header) return refuse(header.error());
    if (header->first_sequence > expected_.sequence)
      return refuse("no good batch with sequence " + std::to_string(expected_.sequence) + ", but " + name +
                    " begins with " + std::to_string(header->first_sequence) + ": what was safe is missing");
    const auto end = end_of_bytes(**file, kSegmentHeaderBytes, header->bytes);
    if (!end) return refuse(Damage{DamageKind::damage, disk_.path(name), kSegmentHeaderBytes, end.error().text()});
    if (*end != kSegmentHeaderBytes)
      return refuse("no good batch with sequence " + std::to_string(expected_.sequence) + ", but " + name +
                    " holds something: what was safe is missing");
    verdict_.spares.push_back({index, header->bytes, header->first_sequence, 0, kSegmentHeaderBytes, 0, false});
    return true;
  }

  bool look_for_confirmed(std::uint64_t end) {
    for (std::uint64_t from = expected_.offset;;) {
      const auto found = find_batch(file_, expected_.journal, from, end);
      if (!found) return refuse(found.error().text());
      if (!*found) return true;
      const BatchHeader& header = (*found)->header;
      if (header.epoch >= expected_.epoch && header.first_sequence >= expected_.sequence &&
          header.durable >= expected_.sequence)
        return refuse("no good batch with sequence " + std::to_string(expected_.sequence) + ", but the one at offset " +
                      std::to_string((*found)->offset) + " says that sequence " + std::to_string(header.durable) +
                      " was safe");
      from = (*found)->offset + kAlignment;
    }
  }

  // True: it looks torn.
  bool look_at_batch() {
    if (expected_.offset + kBatchHeaderBytes > expected_.segment_bytes)
      return refuse("something stands where no batch has room");
    std::array<std::byte, kBatchHeaderBytes> bytes{};
    const auto got = file_.read(expected_.offset, bytes);
    if (!got) return refuse(got.error().text());
    const auto header = decode_batch(bytes, expected_.journal);
    if (!header) {
      return has_sector_of_zeros(bytes, expected_.offset) ||
             refuse("the batch's header is there, but its checksum does not fit");
    }
    if (header->first_sequence != expected_.sequence || header->chain != expected_.chain ||
        header->epoch < expected_.epoch)
      return refuse("a batch that does not continue the one before: sequence " +
                    std::to_string(header->first_sequence) + " where " + std::to_string(expected_.sequence) +
                    " was to come");
    const std::uint64_t size = batch_bytes(header->length);
    if (expected_.offset + size > expected_.segment_bytes) return refuse("the batch goes past the end of its segment");
    Window window(file_, expected_.segment_bytes);
    const auto body = window.at(expected_.offset, static_cast<std::size_t>(size));
    if (!body) return refuse(body.error().text());
    return has_sector_of_zeros(*body, expected_.offset) ||
           refuse("the batch is there as a whole, but the checksum of its records does not fit");
  }

  io::Disk& disk_;
  io::File& file_;
  const Expected& expected_;
  const std::vector<std::uint32_t>& later_;
  TailVerdict verdict_;
};

}  // namespace

TailVerdict judge_tail(io::Disk& disk, io::File& file, const Expected& expected,
                       const std::vector<std::uint32_t>& later) {
  return Judge(disk, file, expected, later).run();
}

io::IoResult<std::uint64_t> end_of_bytes(io::File& file, std::uint64_t offset, std::uint64_t end) {
  std::vector<std::byte> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, end - offset)));
  std::uint64_t last = offset;
  for (std::uint64_t at = offset; at < end;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), end - at));
    const auto got = file.read(at, std::span(chunk).first(wanted));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    const auto bytes = std::span<const std::byte>(chunk).first(*got);
    if (!all_zero(bytes)) {
      const auto from_end = std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte b) { return b != std::byte{0}; });
      last = at + static_cast<std::uint64_t>(bytes.rend() - from_end);
    }
    at += *got;
  }
  return last;
}

io::IoResult<std::optional<FoundBatch>> find_batch(io::File& file, std::uint64_t journal, std::uint64_t offset,
                                                   std::uint64_t end) {
  Window window(file, end);
  for (std::uint64_t at = offset; at + kBatchHeaderBytes <= end; at += kAlignment) {
    const auto bytes = window.at(at, kBatchHeaderBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    if (bytes->size() < kBatchHeaderBytes) break;
    if (const auto header = decode_batch(bytes->first<kBatchHeaderBytes>(), journal)) return FoundBatch{at, *header};
  }
  return std::optional<FoundBatch>();
}

tl::expected<SegmentHeader, Damage> read_segment_header(io::Disk& disk, io::File& file, std::uint32_t index,
                                                        std::optional<std::uint64_t> journal) {
  const auto fail = [&](std::uint64_t offset, std::string reason, DamageKind kind = DamageKind::damage) {
    return tl::unexpected(Damage{kind, disk.path(segment_name(index)), offset, std::move(reason)});
  };
  std::array<std::byte, kSegmentHeaderBytes> bytes{};
  const auto got = file.read(0, bytes);
  if (!got) return fail(0, got.error().text());
  if (*got < bytes.size()) return fail(*got, "the file ends within its header");
  const auto header = decode_segment(bytes);
  if (!header) return fail(0, header.error(), is_other_format(bytes) ? DamageKind::newer : DamageKind::damage);
  if (header->index != index)
    return fail(16, "this is segment " + std::to_string(header->index) + " under a wrong name");
  if (journal && header->journal != *journal) return fail(8, "this segment is of another journal");
  const auto size = file.size();
  if (!size) return fail(0, size.error().text());
  if (*size < header->bytes)
    return fail(*size, "the file ends here, but it had " + std::to_string(header->bytes) + " bytes");
  return *header;
}

}  // namespace sluice::journal
