#include "journal/writer.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/mutant.h"

namespace sluice::journal {

Writer::Writer(io::Disk& disk, const WriterOptions& options, Pending& pending, Segments& segments, Status& status,
               Start start)
    : disk_(disk),
      options_(options),
      pending_(pending),
      segments_(segments),
      status_(status),
      journal_(start.journal),
      epoch_(start.epoch),
      chain_(start.chain),
      position_(start.offset),
      current_(std::move(start.current)),
      spare_(std::move(start.spare)),
      written_(start.last_sequence),
      synced_(start.last_sequence),
      oldest_(start.oldest),
      written_oldest_(start.oldest),
      synced_oldest_(start.oldest) {}

bool Writer::fail(const io::IoError& error) {
  status_.fail(error.text());
  return false;
}

bool Writer::step(std::uint64_t now_ms) {
  const bool wrote = write(now_ms);
  const bool synced = sync(now_ms);
  const bool tended = tend(now_ms);
  return wrote || synced || tended;
}

std::optional<std::uint64_t> Writer::next_ms() const {
  if (status_.failed()) return std::nullopt;
  std::optional<std::uint64_t> next;
  if (dirty_ && options_.sync == SyncMode::interval) next = dirty_since_ms_ + options_.interval_ms;
  if (!spare_ || held_) next = std::min(next.value_or(retry_at_ms_), retry_at_ms_);
  return next;
}

bool Writer::write(std::uint64_t now_ms) {
  if (status_.failed()) return false;
  if (options_.sync == SyncMode::always && dirty_ && !sync_file()) return false;
  if (!held_) held_ = pending_.take();
  if (!held_) return false;
  if (!dirty_) dirty_since_ms_ = now_ms;
  const bool ends = held_->next_segment_bytes != 0;
  if (!(ends ? end_segment(held_->next_segment_bytes, now_ms) : write_batch(*held_, 0))) return false;
  pending_.reuse(std::move(held_->bytes));
  held_.reset();
  return true;
}

BatchHeader Writer::header_of(const Batch& batch, std::uint32_t flags) const {
  BatchHeader header;
  header.first_sequence = batch.first_sequence;
  header.durable = synced_;
  header.turns = batch.turns;
  header.length = static_cast<std::uint32_t>(batch.body_bytes());
  header.body_crc = crc32c(std::span(batch.bytes).subspan<kBatchHeaderBytes>());
  header.chain = chain_;
  header.epoch = epoch_;
  header.flags = flags;
  header.oldest = oldest_;
  return header;
}

bool Writer::write_batch(Batch& batch, std::uint32_t flags) {
  SLUICE_CHECK(batch.segment == current_.index && batch.offset == position_);
  SLUICE_CHECK(batch.first_sequence == written_ + 1);
  BatchHeader header = header_of(batch, flags);
  encode(header, journal_, std::span(batch.bytes).first<kBatchHeaderBytes>());
  batch.bytes.resize(padded(batch.bytes.size()));
  SLUICE_CHECK(position_ + batch.bytes.size() <= current_.bytes);
  if (auto done = current_.file->write(position_, batch.bytes); !done) return fail(done.error());
  chain_ = header.crc;
  position_ += batch.bytes.size();
  written_ += batch.turns;
  written_oldest_ = oldest_;
  dirty_ = used_ = true;
  if (options_.sync != SyncMode::always) status_.raise_durable(written_);
  return true;
}

bool Writer::write_empty_here(std::uint32_t flags) {
  Batch empty;
  empty.segment = current_.index;
  empty.offset = position_;
  empty.first_sequence = written_ + 1;
  empty.bytes.resize(kBatchHeaderBytes);
  return write_batch(empty, flags);
}

bool Writer::sync(std::uint64_t now_ms) {
  if (status_.failed() || !dirty_) return false;
  switch (options_.sync) {
    case SyncMode::always:
      return sync_file();
    case SyncMode::interval:
      return now_ms >= dirty_since_ms_ + options_.interval_ms && sync_file();
    case SyncMode::os:
      return false;
  }
  return false;
}

bool Writer::sync_file() {
  if (!dirty_) return true;
  if (!mutant("skip_sync")) {
    if (auto done = current_.file->sync(); !done) return fail(done.error());
  }
  dirty_ = false;
  synced_ = written_;
  synced_oldest_ = written_oldest_;
  status_.raise_durable(synced_);
  return true;
}

// All of this segment is synced before the next one says that it goes on there, and the batch that says so before anything goes there.
bool Writer::end_segment(std::uint64_t next_segment_bytes, std::uint64_t now_ms) {
  if (!spare_ && !prepare(next_segment_bytes, now_ms)) return false;
  if (spare_->bytes < next_segment_bytes && !grow_spare(next_segment_bytes, now_ms)) return false;
  if (!sync_file()) return false;
  Batch last;
  last.first_sequence = written_ + 1;
  last.bytes.resize(kBatchHeaderBytes);
  BatchHeader header = header_of(last, kLastOfSegment);
  encode(header, journal_, std::span(last.bytes).first<kBatchHeaderBytes>());
  if (!begin_spare(header.crc) || !write_empty_here(kLastOfSegment) || !sync_file()) return false;
  SLUICE_CHECK(chain_ == header.crc);
  segments_.close_last(written_, {spare_->index, spare_->bytes, 0});
  current_ = std::move(*spare_);
  spare_.reset();
  position_ = kSegmentHeaderBytes;
  return true;
}

bool Writer::begin_spare(std::uint32_t chain) {
  SegmentHeader header{journal_, spare_->index, epoch_, written_ + 1, chain, static_cast<std::uint32_t>(spare_->bytes)};
  if (auto done = write_header(*spare_->file, header); !done) return fail(done.error());
  if (auto done = spare_->file->sync(); !done) return fail(done.error());
  return true;
}

void Writer::finish() {
  while (write(0)) {
  }
  if (status_.failed()) return;
  if (held_) {
    status_.fail("the disk is full: what was appended last could not be written");
    return;
  }
  if (!sync_file() || !used_) return;
  pending_.add_empty();
  if (write(0)) sync_file();
}

}  // namespace sluice::journal
