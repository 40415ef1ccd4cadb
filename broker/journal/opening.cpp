#include "journal/opening.h"

#include <array>

#include "base/mutant.h"

namespace sluice::journal {
namespace {

constexpr std::uint32_t kFirstIndex = 1;

io::IoResult<void> remove_unfinished(io::Disk& disk, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (auto done = disk.remove(name); !done) return done;
  return {};
}

io::IoResult<void> make_first(io::Disk& disk, const WriterOptions& options, std::uint64_t id, ScanResult& found) {
  const std::string made = new_segment_name(kFirstIndex);
  auto file = disk.open(made, io::OpenMode::create);
  if (!file) return tl::unexpected(file.error());
  if (auto done = (*file)->reserve(options.segment_bytes); !done) return done;
  std::array<std::byte, kSegmentHeaderBytes> bytes{};
  encode(SegmentHeader{id, kFirstIndex, 1, 1, 0, static_cast<std::uint32_t>(options.segment_bytes)}, bytes);
  if (auto done = (*file)->write(0, bytes); !done) return done;
  if (auto done = (*file)->sync(); !done) return done;
  if (auto done = disk.rename(made, segment_name(kFirstIndex)); !done) return done;
  if (auto done = disk.sync_directory(); !done) return done;
  found.journal = id;
  found.segments.push_back({kFirstIndex, options.segment_bytes, 1, 0, kSegmentHeaderBytes, 0, false});
  return {};
}

// The first one is kept when it is large enough: with a full disk it is the room for what frees room.
io::IoResult<std::optional<OpenSegment>> keep_spare(io::Disk& disk, const WriterOptions& options,
                                                    const ScanResult& found) {
  std::vector<std::uint32_t> superfluous;
  for (const SegmentInfo& spare : found.spares) superfluous.push_back(spare.index);
  const bool keeps = !found.spares.empty() && found.spares.front().bytes >= options.segment_bytes;
  if (keeps) superfluous.erase(superfluous.begin());
  if (auto done = remove_segments(disk, superfluous); !done) return tl::unexpected(done.error());
  if (!keeps) return std::optional<OpenSegment>();
  auto file = disk.open(segment_name(found.spares.front().index), io::OpenMode::write);
  if (!file) return tl::unexpected(file.error());
  return OpenSegment{found.spares.front().index, found.spares.front().bytes, std::move(*file)};
}

}  // namespace

io::IoResult<void> remove_segments(io::Disk& disk, const std::vector<std::uint32_t>& indices) {
  for (auto index = indices.rbegin(); index != indices.rend(); ++index) {
    if (auto done = disk.remove(segment_name(*index)); !done) return done;
    if (auto done = disk.sync_directory(); !done) return done;
  }
  return {};
}

io::IoResult<Writer::Start> put_in_order(io::Disk& disk, const WriterOptions& options, std::uint64_t id,
                                         ScanResult& found) {
  if (auto done = remove_unfinished(disk, found.unfinished); !done) return tl::unexpected(done.error());
  if (found.segments.empty()) {
    if (auto done = make_first(disk, options, id, found); !done) return tl::unexpected(done.error());
  }
  const SegmentInfo& last = found.segments.back();
  auto file = disk.open(segment_name(last.index), io::OpenMode::write);
  if (!file) return tl::unexpected(file.error());
  if (found.torn && !mutant("torn_tail_not_cut")) {
    if (auto done = (*file)->clear_from(last.end); !done) return tl::unexpected(done.error());
  }
  // What was read may be in the system's memory only, left by a process that was killed: from now on it counts as safe.
  if (auto done = (*file)->sync(); !done) return tl::unexpected(done.error());
  if (auto done = disk.sync_directory(); !done) return tl::unexpected(done.error());
  auto spare = keep_spare(disk, options, found);
  if (!spare) return tl::unexpected(spare.error());

  Writer::Start start;
  start.journal = found.journal;
  start.epoch = found.epoch + 1;
  start.chain = found.chain;
  start.oldest = found.segments.front().index;
  start.last_sequence = found.last_sequence;
  start.offset = last.end;
  start.current = {last.index, last.bytes, std::move(*file)};
  start.spare = std::move(*spare);
  return start;
}

}  // namespace sluice::journal
