#include "journal/file_journal.h"

#include <array>

#include "base/check.h"
#include "journal/opening.h"

namespace sluice::journal {
namespace {

std::string lock_holder(io::Disk& disk) {
  std::array<std::byte, 20> bytes{};
  const auto file = disk.open(kLockName, io::OpenMode::read);
  if (!file) return {};
  const auto got = (*file)->read(0, bytes);
  if (!got) return {};
  std::string id;
  for (std::size_t i = 0; i < *got && bytes[i] >= std::byte{'0'} && bytes[i] <= std::byte{'9'}; ++i)
    id += static_cast<char>(bytes[i]);
  return id.empty() ? id : " (process " + id + ")";
}

OpenErrorKind kind_of(DamageKind kind) {
  switch (kind) {
    case DamageKind::damage:
      return OpenErrorKind::damaged;
    case DamageKind::foreign:
      return OpenErrorKind::foreign;
    case DamageKind::newer:
      return OpenErrorKind::newer;
  }
  return OpenErrorKind::damaged;
}

tl::unexpected<OpenError> failed(const io::IoError& error) {
  return tl::unexpected(OpenError{OpenErrorKind::io, error.text()});
}

tl::expected<void, OpenError> lock(io::Disk& disk) {
  const auto locked = disk.lock(kLockName);
  if (!locked) return failed(locked.error());
  if (*locked) return {};
  return tl::unexpected(OpenError{OpenErrorKind::locked,
                                  disk.path(kLockName) + ": another process uses this journal" + lock_holder(disk)});
}

tl::expected<ScanResult, OpenError> lock_and_scan(io::Disk& disk, const BatchSink& replay, const Progress& progress) {
  // Before the lock, which is a file: nothing is put into a directory of somebody else's.
  const auto names = disk.list();
  if (!names) return failed(names.error());
  if (!foreign_name(*names)) {
    if (auto done = lock(disk); !done) return tl::unexpected(done.error());
  }
  auto found = scan(disk, replay, progress);
  if (!found) return failed(found.error());
  if (found->damage) return tl::unexpected(OpenError{kind_of(found->damage->kind), found->damage->text()});
  return std::move(*found);
}

}  // namespace

tl::expected<std::unique_ptr<FileJournal>, OpenError> FileJournal::open(io::Disk& disk,
                                                                        const FileJournalOptions& options,
                                                                        std::uint64_t id, const BatchSink& replay,
                                                                        const Progress& progress) {
  SLUICE_CHECK(options.segment_bytes >= kSegmentBytesLeast && options.segment_bytes <= kSegmentBytesMax);
  auto found = lock_and_scan(disk, replay, progress);
  if (!found) {
    if (found.error().kind != OpenErrorKind::locked) disk.unlock();
    return tl::unexpected(found.error());
  }
  auto start = put_in_order(disk, options, id, *found);
  if (!start) {
    disk.unlock();
    return failed(start.error());
  }
  std::unique_ptr<FileJournal> journal(new FileJournal(disk, options, *found, std::move(*start)));
  journal->writer_.tend(0);  // so that has_room() is right from the start
  if (const auto failure = journal->failure()) {
    disk.unlock();
    return tl::unexpected(OpenError{OpenErrorKind::io, *failure});
  }
  return journal;
}

FileJournal::FileJournal(io::Disk& disk, const FileJournalOptions& options, const ScanResult& found,
                         Writer::Start start)
    : disk_(disk),
      options_(options),
      pending_({start.current.index, start.offset, start.current.bytes, start.last_sequence + 1},
               options.segment_bytes),
      opening_{start.epoch, Sequence{start.last_sequence}, found.batches, found.segments.size(), 0, found.torn},
      writer_(disk, options, pending_, segments_, status_, std::move(start)),
      reader_(disk, found.journal, status_, writer_),
      last_{found.last_sequence} {
  for (const SegmentInfo& segment : found.segments)
    segments_.add({segment.index, segment.bytes, segment.last_sequence});
  opening_.bytes = segments_.bytes();
  status_.raise_durable(found.last_sequence);
}

std::string_view FileJournal::sync() const {
  switch (options_.sync) {
    case SyncMode::always:
      return "always";
    case SyncMode::interval:
      return "interval";
    case SyncMode::os:
      return "os";
  }
  return "always";
}

Appended FileJournal::append(std::span<const std::byte> records) {
  const Appended appended = pending_.append(records);
  last_ = appended.sequence;
  pending_bytes();  // forgets what is durable
  unsafe_.push_back({raw(last_), records.size(), appended.base});
  unsafe_bytes_ += records.size();
  if (workers_ != nullptr) workers_->writer_has_work();
  return appended;
}

std::uint64_t FileJournal::pending_bytes() const {
  const std::uint64_t durable = status_.durable();
  while (!unsafe_.empty() && unsafe_.front().sequence <= durable) {
    unsafe_bytes_ -= unsafe_.front().bytes;
    unsafe_.pop_front();
  }
  return unsafe_bytes_;
}

std::uint64_t FileJournal::reserve_bytes() const {
  return has_room() ? ~std::uint64_t{0} : pending_.left_in(segments_.last_index());
}

std::string FileJournal::describe(Location at) const {
  return disk_.path(segment_name(segment_of(at))) + " offset " + std::to_string(offset_of(at));
}

bool FileJournal::is_durable(Location at, std::size_t bytes) const {
  pending_bytes();  // forgets what is durable
  return unsafe_.empty() || at + bytes <= unsafe_.front().base;
}

// What compaction has just written again is not on the disk yet, and asked for already.
void FileJournal::fetch(std::uint64_t ticket, Location at, std::size_t bytes) {
  if (!is_durable(at, bytes)) {
    early_.push_back({ticket, at, bytes});
    return;
  }
  reader_.fetch(ticket, at, bytes);
  if (workers_ != nullptr) workers_->reader_has_work();
}

std::optional<Fetched> FileJournal::take() {
  std::erase_if(early_, [this](const Early& asked) {
    if (!is_durable(asked.at, asked.bytes)) return false;
    fetch(asked.ticket, asked.at, asked.bytes);
    return true;
  });
  return reader_.take();
}

void FileJournal::fetch_batch(std::uint64_t ticket) {
  const auto oldest = segments_.oldest_closed();
  SLUICE_CHECK(oldest.has_value());
  reader_.fetch_batch(ticket, oldest->index);
  if (workers_ != nullptr) workers_->reader_has_work();
}

std::optional<Part> FileJournal::oldest_part() const {
  const auto oldest = segments_.oldest_closed();
  if (!oldest) return std::nullopt;
  return Part{Sequence{oldest->last_sequence}, oldest->bytes};
}

void FileJournal::release_oldest_part() {
  const auto oldest = segments_.oldest_closed();
  SLUICE_CHECK(oldest.has_value());
  segments_.drop_oldest();
  reader_.release(oldest->index);
  if (workers_ != nullptr) workers_->reader_has_work();
}

void FileJournal::close() {
  while (reader_.step()) {
  }
  writer_.finish();
  disk_.unlock();
}

}  // namespace sluice::journal
