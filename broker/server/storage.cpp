#include "server/storage.h"

#include <chrono>

namespace sluice::server {
namespace {

using Clock = std::chrono::steady_clock;

// Reading a large journal takes seconds: somebody may be watching.
constexpr std::chrono::seconds kProgressEvery{1};

class ReadingProgress {
 public:
  explicit ReadingProgress(log::Logger& logger) : logger_(logger) {}

  void operator()(std::uint64_t done_bytes, std::uint64_t all_bytes) {
    if (Clock::now() < next_) return;
    next_ = Clock::now() + kProgressEvery;
    logger_.info("journal", "reading", {{"done_bytes", done_bytes}, {"all_bytes", all_bytes}});
  }

 private:
  log::Logger& logger_;
  Clock::time_point next_ = Clock::now() + kProgressEvery;
};

std::uint64_t ms_since(Clock::time_point begin) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
}

}  // namespace

tl::expected<std::unique_ptr<Storage>, std::string> Storage::open(const StorageOptions& options, log::Logger& logger) {
  std::unique_ptr<Storage> storage(new Storage());
  auto disk = io::PosixDisk::open(options.directory);
  if (!disk) return tl::unexpected(disk.error().text());
  storage->disk_ = *std::move(disk);
  storage->restorer_ = std::make_unique<durability::Restorer>(options.memory_bytes);
  const Clock::time_point begin = Clock::now();
  ReadingProgress progress(logger);
  auto opened = journal::FileJournal::open(
      *storage->disk_, options.journal, options.random,
      [&](const journal::ScannedBatch& batch) {
        return storage->restorer_->apply(batch.body, batch.base, batch.first);
      },
      [&](std::uint64_t done, std::uint64_t all) { progress(done, all); });
  if (!opened) {
    const bool damaged = opened.error().kind == journal::OpenErrorKind::damaged;
    return tl::unexpected(
        opened.error().text +
        (damaged ? "; nothing was changed: see `sluice journal verify " + options.directory + "`" : ""));
  }
  storage->journal_ = *std::move(opened);
  const journal::Opening& found = storage->journal_->opening();
  if (found.cut)
    logger.warn("journal", "torn_tail_cut",
                {{"file", found.cut->file}, {"offset", found.cut->offset}, {"bytes", found.cut->bytes}});
  logger.info("journal", "opened",
              {{"directory", options.directory},
               {"epoch", std::uint64_t{found.epoch}},
               {"segments", found.segments},
               {"bytes", found.bytes},
               {"batches", found.batches},
               {"sync", storage->journal_->sync()},
               {"took_ms", ms_since(begin)}});
  storage->threads_ = std::make_unique<journal::JournalThreads>(*storage->journal_);
  return storage;
}

Storage::~Storage() { close(); }

std::optional<std::string> Storage::close() {
  if (threads_ == nullptr) return std::nullopt;
  threads_->stop();
  journal_->close();
  std::optional<std::string> failure = journal_->failure();
  threads_.reset();
  return failure;
}

}  // namespace sluice::server
