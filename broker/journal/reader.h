#pragma once
// journal/reader.h: reads back what was written. A state machine without a thread: somebody calls step() when something was asked for.
//
// Place    loop -> [reader] -> Disk.
// Shapes   requests are answered in order; a segment that is to go is handed to the writer in its turn, so that nothing is removed that was
//          asked for before.
// Errors   a failed read, or a batch that does not fit its checksums: status.failure().
// Threads  step(): one; the others: any.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "io/disk.h"
#include "journal/journal.h"
#include "journal/segment_format.h"
#include "journal/status.h"

namespace sluice::journal {

class Writer;

class Reader {
 public:
  Reader(io::Disk& disk, std::uint64_t journal, Status& status, Writer& writer)
      : disk_(disk), journal_(journal), status_(status), writer_(writer) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void fetch(std::uint64_t ticket, Location at, std::size_t bytes);
  // The next batch of this segment, which takes no more.
  void fetch_batch(std::uint64_t ticket, std::uint32_t segment);
  void release(std::uint32_t segment);
  std::optional<Fetched> take();

  // One request. False: there is none, or it failed.
  bool step();
  bool has_answers() const;

 private:
  enum class Kind : std::uint8_t { fetch, batch, release };
  struct Request {
    Kind kind{};
    std::uint64_t ticket = 0;
    Location at{};
    std::size_t bytes = 0;
    std::uint32_t segment = 0;
  };

  void ask(const Request& request);
  void answer(Fetched fetched);
  io::File* file_of(std::uint32_t segment);
  bool read(std::uint32_t segment, std::uint64_t offset, std::span<std::byte> into);
  std::optional<BatchHeader> header_at(std::uint32_t segment, std::uint64_t offset);
  void read_bytes(const Request& request);
  void read_batch(const Request& request);
  bool skip_empty();
  void fail(std::uint32_t segment, std::uint64_t offset, const std::string& reason);

  io::Disk& disk_;
  const std::uint64_t journal_;
  Status& status_;
  Writer& writer_;
  std::map<std::uint32_t, std::unique_ptr<io::File>> files_;
  // Of fetch_batch().
  std::uint32_t segment_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t sequence_ = 0;  // of the next batch in it
  BatchHeader next_;

  mutable std::mutex mutex_;
  std::deque<Request> requests_;
  std::deque<Fetched> answers_;
};

}  // namespace sluice::journal
