#pragma once
// journal/writer.h: writes batches, syncs them, goes on to the next segment, removes old ones. A state machine without a thread: somebody calls
// step() when there is work, and when next_ms() says so.
//
// Place    pending -> [writer] -> Disk; tells status how far it is.
// Units    *_ms on a monotonic scale of the caller's.
// Errors   the first failed call ends it: status.failure(), and nothing is written or synced again. Only a full disk, met while the next
//          segment is prepared, is waited for: has_room() is false, and what is reserved goes on being used.
// Threads  one, but for remove() and has_removals().
// Source   spec/journal.md sections 2 and 3.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "io/disk.h"
#include "journal/pending.h"
#include "journal/segment_format.h"
#include "journal/status.h"

namespace sluice::journal {

enum class SyncMode : std::uint8_t {
  always,    // durable: synced
  interval,  // durable: written; synced at least every interval
  os,        // durable: written; synced with the segment's end and by close()
};

struct WriterOptions {
  SyncMode sync = SyncMode::always;
  std::uint64_t interval_ms = 1'000;
  std::uint64_t segment_bytes = 64 << 20;
};

// A segment's file and what its header says, or will say.
struct OpenSegment {
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
  std::unique_ptr<io::File> file;
};

class Writer {
 public:
  struct Start {
    std::uint64_t journal = 0;
    std::uint32_t epoch = 0;
    std::uint32_t chain = 0;
    std::uint32_t oldest = 0;
    std::uint64_t last_sequence = 0;  // is synced
    std::uint64_t offset = 0;
    OpenSegment current;
    std::optional<OpenSegment> spare;
  };
  Writer(io::Disk& disk, const WriterOptions& options, Pending& pending, Segments& segments, Status& status,
         Start start);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // One batch. False: there is none, or no room, or it failed.
  bool write(std::uint64_t now_ms);
  // What the mode asks for by now. False: nothing, or it failed.
  bool sync(std::uint64_t now_ms);
  // Prepares the next segment, removes an old one. False: nothing to do, or not possible now.
  bool tend(std::uint64_t now_ms);
  // All of these. False: wait for work, or for next_ms().
  bool step(std::uint64_t now_ms);
  std::optional<std::uint64_t> next_ms() const;

  // The oldest segment is not needed any more, and nobody reads it.
  void remove(std::uint32_t index);
  bool has_removals() const { return removal().has_value(); }

  // Writes and syncs all, and an empty batch behind it that says that all was synced.
  void finish();

 private:
  bool fail(const io::IoError& error);
  bool write_batch(Batch& batch, std::uint32_t flags);
  BatchHeader header_of(const Batch& batch, std::uint32_t flags) const;
  bool write_empty_here(std::uint32_t flags);
  bool sync_file();
  bool end_segment(std::uint64_t next_segment_bytes, std::uint64_t now_ms);
  bool begin_spare(std::uint32_t chain);

  bool prepare(std::uint64_t bytes, std::uint64_t now_ms);
  bool grow_spare(std::uint64_t bytes, std::uint64_t now_ms);
  bool no_room(const io::IoError& error, bool made, std::uint64_t now_ms);
  io::IoResult<void> write_header(io::File& file, const SegmentHeader& header);

  std::optional<std::uint32_t> removal() const;
  bool remove_oldest(std::uint32_t index, std::uint64_t now_ms);
  bool state_oldest(std::uint64_t now_ms);

  io::Disk& disk_;
  const WriterOptions options_;
  Pending& pending_;
  Segments& segments_;
  Status& status_;

  const std::uint64_t journal_;
  const std::uint32_t epoch_;
  std::uint32_t chain_;
  std::uint64_t position_;  // where the next batch goes
  OpenSegment current_;
  std::optional<OpenSegment> spare_;
  std::optional<Batch> held_;  // taken, and waits for room in the next segment

  std::uint64_t written_;  // sequences
  std::uint64_t synced_;
  bool dirty_ = false;  // written since the last sync
  bool used_ = false;   // anything written
  std::uint64_t dirty_since_ms_ = 0;
  std::uint64_t retry_at_ms_ = 0;

  std::uint32_t oldest_;
  std::uint32_t written_oldest_;  // as a written, a synced batch says
  std::uint32_t synced_oldest_;
  mutable std::mutex removals_mutex_;
  std::deque<std::uint32_t> removals_;
};

}  // namespace sluice::journal
