#include "journal/repair.h"

#include <algorithm>
#include <array>

#include "base/crc32c.h"
#include "journal/opening.h"
#include "journal/tail.h"
#include "journal/window.h"

namespace sluice::journal {
namespace {

io::IoResult<std::vector<std::uint32_t>> indices_of(io::Disk& disk) {
  const auto names = disk.list();
  if (!names) return tl::unexpected(names.error());
  std::vector<std::uint32_t> indices;
  for (const std::string& name : *names)
    if (const auto index = segment_index(name)) indices.push_back(*index);
  return indices;
}

// Everything behind the last good batch. The one that ends a segment goes too (it holds nothing): the next segment will not be there.
void choose_cut(const ScanResult& found, const std::vector<std::uint32_t>& indices, RepairPlan& plan) {
  if (!found.segments.empty()) {
    const SegmentInfo& last = found.segments.back();
    plan.segment = last.index;
    plan.offset = last.ended ? last.last_batch : last.end;
    plan.kept_last_sequence = last.last_sequence;
  }
  for (const std::uint32_t index : indices)
    if (index > plan.segment) plan.removed.push_back(index);
}

void count(const BatchHeader& header, RepairPlan& plan) {
  if (header.turns == 0) return;
  const std::uint64_t last = header.first_sequence + header.turns - 1;
  plan.first_sequence =
      plan.batches == 0 ? header.first_sequence : std::min(plan.first_sequence, header.first_sequence);
  plan.last_sequence = std::max(plan.last_sequence, last);
  plan.turns += header.turns;
  ++plan.batches;
}

io::IoResult<void> count_file(io::File& file, std::uint64_t journal, std::uint64_t from, RepairPlan& plan) {
  const auto size = file.size();
  if (!size) return tl::unexpected(size.error());
  const auto end = end_of_bytes(file, std::min(from, *size), *size);
  if (!end) return tl::unexpected(end.error());
  plan.bytes += *end - std::min(from, *size);
  for (std::uint64_t at = std::max<std::uint64_t>(from, kSegmentHeaderBytes);;) {
    const auto found = find_batch(file, journal, at, *size);
    if (!found) return tl::unexpected(found.error());
    if (!*found) return {};
    const BatchHeader& header = (*found)->header;
    at = (*found)->offset + kAlignment;
    if ((*found)->offset + kBatchHeaderBytes + header.length > *size) continue;
    Window window(file, *size);
    const auto body = window.at((*found)->offset + kBatchHeaderBytes, header.length);
    if (!body) return tl::unexpected(body.error());
    if (crc32c(*body) != header.body_crc) continue;
    count(header, plan);
    at = (*found)->offset + batch_bytes(header.length);
  }
}

// What cannot be read is not counted: it goes, whatever it was.
void count_all(io::Disk& disk, std::uint64_t journal, RepairPlan& plan) {
  const auto count_one = [&](std::uint32_t index, std::uint64_t from) {
    if (const auto file = disk.open(segment_name(index), io::OpenMode::read))
      (void)count_file(**file, journal, from, plan);
  };
  if (plan.segment != 0) count_one(plan.segment, plan.offset);
  for (const std::uint32_t index : plan.removed) count_one(index, 0);
}

// An empty batch at the journal's end, which names the first segment that is there.
io::IoResult<void> forget_missing(io::File& file, const ScanResult& found) {
  std::array<std::byte, kBatchHeaderBytes> bytes{};
  BatchHeader header;
  header.first_sequence = found.last_sequence + 1;
  header.durable = found.last_sequence;
  header.chain = found.chain;
  header.epoch = found.epoch;
  header.body_crc = crc32c({});
  header.oldest = found.segments.front().index;
  encode(header, found.journal, bytes);
  return file.write(found.segments.back().end, bytes);
}

}  // namespace

tl::expected<RepairPlan, std::string> plan_repair(io::Disk& disk, const ScanResult& found) {
  if (!found.damage) return tl::unexpected(std::string("there is no damage"));
  if (found.damage->kind != DamageKind::damage) return tl::unexpected(found.damage->text());
  const auto indices = indices_of(disk);
  if (!indices) return tl::unexpected(indices.error().text());
  if (indices->empty()) return tl::unexpected(std::string("there is no segment"));
  RepairPlan plan;
  plan.damage = *found.damage;
  plan.forgets_missing = found.misses_oldest;
  if (plan.forgets_missing) {
    plan.segment = found.segments.back().index;
    plan.offset = found.segments.back().end;
    plan.kept_last_sequence = found.last_sequence;
    return plan;
  }
  choose_cut(found, *indices, plan);
  count_all(disk, found.journal, plan);
  return plan;
}

io::IoResult<void> repair(io::Disk& disk, const ScanResult& found, const RepairPlan& plan) {
  if (plan.segment != 0) {
    const auto file = disk.open(segment_name(plan.segment), io::OpenMode::write);
    if (!file) return tl::unexpected(file.error());
    if (auto done = (*file)->clear_from(plan.offset); !done) return done;
    if (plan.forgets_missing) {
      if (auto done = forget_missing(**file, found); !done) return done;
    }
    if (auto done = (*file)->sync(); !done) return done;
  }
  return remove_segments(disk, plan.removed);
}

}  // namespace sluice::journal
