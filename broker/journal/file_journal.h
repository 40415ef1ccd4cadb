#pragma once
// journal/file_journal.h: the journal as segments in one directory.
//
// Place    loop -> [file_journal] -> pending, writer, reader -> Disk. journal_threads runs writer and reader; a simulator steps them itself.
// Errors   open(): one line for people, and nothing was changed unless the kind is io. Later: failure().
// Threads  as Journal says; writer() and reader() are each for one thread.
// Owns     writer, reader and what is between them; borrows the Disk, which outlives it.
// Source   spec/journal.md sections 1 to 4.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "io/disk.h"
#include "journal/journal.h"
#include "journal/pending.h"
#include "journal/reader.h"
#include "journal/scan.h"
#include "journal/status.h"
#include "journal/writer.h"

namespace sluice::journal {

using FileJournalOptions = WriterOptions;
constexpr std::uint64_t kSegmentBytesMin = 64 << 10;   // that settings may ask for
constexpr std::uint64_t kSegmentBytesLeast = 1 << 10;  // that works, for tests

enum class OpenErrorKind : std::uint8_t { locked, foreign, newer, damaged, io };

struct OpenError {
  OpenErrorKind kind = OpenErrorKind::io;
  std::string text;  // one line
};

// What was found.
struct Opening {
  std::uint32_t epoch = 0;  // of this opening
  Sequence last{};
  std::uint64_t batches = 0;
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
  std::optional<TornTail> cut;
};

// Told when there is something to do, from the thread that calls the journal.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual void writer_has_work() = 0;
  virtual void reader_has_work() = 0;
};

class FileJournal final : public Journal {
 public:
  // Locks the directory, gives every good batch to `replay`, cuts a torn tail off, and begins a new epoch. `id`: random; the number of a
  // journal that begins here. REQUIRES: segment_bytes from kSegmentBytesLeast to kSegmentBytesMax.
  static tl::expected<std::unique_ptr<FileJournal>, OpenError> open(io::Disk& disk, const FileJournalOptions& options,
                                                                    std::uint64_t id, const BatchSink& replay,
                                                                    const Progress& progress = {});
  FileJournal(const FileJournal&) = delete;
  FileJournal& operator=(const FileJournal&) = delete;

  const Opening& opening() const { return opening_; }
  Writer& writer() { return writer_; }
  Reader& reader() { return reader_; }
  // nullptr: nobody is told. They outlive the journal, or are taken away before they go.
  void set_workers(Workers* workers) { workers_ = workers; }
  // Writes and syncs what there is, and gives the directory free. Afterwards failure() says whether it went well. REQUIRES: nobody steps
  // writer or reader any more.
  void close();

  std::string_view sync() const override;
  bool keeps_bytes() const override { return true; }
  Appended append(std::span<const std::byte> records) override;
  Sequence last() const override { return last_; }
  Sequence durable() const override { return Sequence{status_.durable()}; }
  std::optional<std::string> failure() const override { return status_.failure(); }
  std::uint64_t pending_bytes() const override;
  bool has_room() const override { return status_.has_room(); }
  std::uint64_t reserve_bytes() const override;
  std::string describe(Location at) const override;
  std::uint64_t bytes() const override { return segments_.bytes(); }
  void fetch(std::uint64_t ticket, Location at, std::size_t bytes) override;
  void fetch_batch(std::uint64_t ticket) override;
  std::optional<Fetched> take() override;
  std::optional<Part> oldest_part() const override;
  void release_oldest_part() override;

 private:
  FileJournal(io::Disk& disk, const FileJournalOptions& options, const ScanResult& found, Writer::Start start);

  struct Unsafe {
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
    Location base{};
  };
  struct Early {
    std::uint64_t ticket = 0;
    Location at{};
    std::size_t bytes = 0;
  };

  bool is_durable(Location at, std::size_t bytes) const;

  io::Disk& disk_;
  const FileJournalOptions options_;
  Status status_;
  Segments segments_;
  Pending pending_;
  Opening opening_;
  Writer writer_;
  Reader reader_;
  Workers* workers_ = nullptr;
  Sequence last_{};
  // Of appends that were not durable when pending_bytes() looked last.
  mutable std::deque<Unsafe> unsafe_;
  mutable std::uint64_t unsafe_bytes_ = 0;
  std::vector<Early> early_;  // fetches of what is not durable yet
};

}  // namespace sluice::journal
