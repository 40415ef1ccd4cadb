#pragma once
// server/storage.h: the journal of a data directory, opened, read, and at work on threads of its own.
//
// Errors   open(): one line for people; nothing was changed unless it says so.
// Threads  all calls from the loop's thread.
// Owns     directory, journal, threads, and what was read until the server takes it.
// Source   spec/journal.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "durability/restorer.h"
#include "io/posix_disk.h"
#include "journal/file_journal.h"
#include "journal/journal_threads.h"
#include "log/logger.h"

namespace sluice::server {

struct StorageOptions {
  std::string directory;
  journal::FileJournalOptions journal;
  std::uint64_t memory_bytes = 0;  // bodies to keep while reading
  std::uint64_t random = 0;        // the number of a journal that begins here
};

class Storage {
 public:
  static tl::expected<std::unique_ptr<Storage>, std::string> open(const StorageOptions& options, log::Logger& logger);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  journal::Journal& journal() { return *journal_; }
  durability::Restorer& restorer() { return *restorer_; }
  void forget_restorer() { restorer_.reset(); }
  // Readable when the loop should look at the journal.
  int wake_fd() const { return threads_->wake_fd(); }
  void drain_wake() { threads_->drain(); }
  // Writes and syncs what there is, and frees the directory. What went wrong, if anything did.
  std::optional<std::string> close();

 private:
  Storage() = default;

  std::unique_ptr<io::PosixDisk> disk_;
  std::unique_ptr<durability::Restorer> restorer_;
  std::unique_ptr<journal::FileJournal> journal_;
  std::unique_ptr<journal::JournalThreads> threads_;
};

}  // namespace sluice::server
