// The part of the writer that makes and removes segments.

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/mutant.h"
#include "journal/writer.h"

namespace sluice::journal {
namespace {

constexpr std::uint64_t kRetryMs = 1'000;

io::IoResult<void> sync_directory(io::Disk& disk) {
  if (mutant("skip_directory_sync")) return {};
  return disk.sync_directory();
}

bool is_full(const io::IoError& error) { return error.number == ENOSPC || error.number == EDQUOT; }

}  // namespace

bool Writer::tend(std::uint64_t now_ms) {
  if (status_.failed()) return false;
  bool done = false;
  if (const auto index = removal()) done = remove_oldest(*index, now_ms);
  if (!spare_ && now_ms >= retry_at_ms_ && !status_.failed()) done = prepare(options_.segment_bytes, now_ms) || done;
  return done;
}

io::IoResult<void> Writer::write_header(io::File& file, const SegmentHeader& header) {
  std::array<std::byte, kSegmentHeaderBytes> bytes{};
  encode(header, bytes);
  return file.write(0, bytes);
}

// Under another name until it is whole: what is called a segment has a header, whenever the power goes.
bool Writer::prepare(std::uint64_t bytes, std::uint64_t now_ms) {
  if (now_ms < retry_at_ms_) return false;
  const std::uint32_t index = current_.index + 1;
  const std::string made = new_segment_name(index);
  auto file = disk_.open(made, io::OpenMode::create);
  if (!file) return no_room(file.error(), false, now_ms);
  if (auto done = (*file)->reserve(bytes); !done) return no_room(done.error(), true, now_ms);
  const SegmentHeader header{journal_, index, epoch_, 0, 0, static_cast<std::uint32_t>(bytes)};
  if (auto done = write_header(**file, header); !done) return no_room(done.error(), true, now_ms);
  if (auto done = (*file)->sync(); !done) return fail(done.error());
  if (auto done = disk_.rename(made, segment_name(index)); !done) return no_room(done.error(), true, now_ms);
  if (auto done = sync_directory(disk_); !done) return fail(done.error());
  spare_ = OpenSegment{index, bytes, std::move(*file)};
  status_.set_room(true);
  return true;
}

// The file is as large as its header says whenever the power goes: so the size is synced first, and the header comes with the segment's use.
bool Writer::grow_spare(std::uint64_t bytes, std::uint64_t now_ms) {
  if (now_ms < retry_at_ms_) return false;
  if (auto done = spare_->file->reserve(bytes); !done) return no_room(done.error(), false, now_ms);
  if (auto done = spare_->file->sync(); !done) return fail(done.error());
  spare_->bytes = bytes;
  status_.set_room(true);
  return true;
}

// `made`: the new file is there, and is no use.
bool Writer::no_room(const io::IoError& error, bool made, std::uint64_t now_ms) {
  if (!is_full(error)) return fail(error);
  if (made) {
    if (auto done = disk_.remove(new_segment_name(current_.index + 1)); !done) return fail(done.error());
  }
  status_.set_room(false);
  retry_at_ms_ = now_ms + kRetryMs;
  return false;
}

void Writer::remove(std::uint32_t index) {
  const std::lock_guard lock(removals_mutex_);
  removals_.push_back(index);
}

std::optional<std::uint32_t> Writer::removal() const {
  const std::lock_guard lock(removals_mutex_);
  if (removals_.empty()) return std::nullopt;
  return removals_.front();
}

// One at a time, each synced: whatever the power leaves of several, there is no gap between segments.
bool Writer::remove_oldest(std::uint32_t index, std::uint64_t now_ms) {
  if (synced_oldest_ <= index) {
    oldest_ = index + 1;
    if (!state_oldest(now_ms)) return false;
  }
  if (auto done = disk_.remove(segment_name(index)); !done) return fail(done.error());
  if (auto done = sync_directory(disk_); !done) return fail(done.error());
  const std::lock_guard lock(removals_mutex_);
  removals_.pop_front();
  retry_at_ms_ = 0;
  return true;
}

// A synced batch says what is needed, before anything else goes. If the disk is so full that this segment cannot end, there is room kept for
// this before its last batch: otherwise a full disk could not be made emptier.
bool Writer::state_oldest(std::uint64_t now_ms) {
  if (written_oldest_ < oldest_ && !held_) {
    pending_.add_empty();
    write(now_ms);
  }
  if (written_oldest_ < oldest_ && held_ && !status_.failed()) {
    if (position_ + 2 * kBatchHeaderBytes > current_.bytes) return false;
    write_empty_here(0);
  }
  return !status_.failed() && written_oldest_ >= oldest_ && sync_file();
}

}  // namespace sluice::journal
