#include "journal/journal_threads.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include "base/check.h"

namespace sluice::journal {
namespace {

using SteadyMs = std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds>;

std::uint64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(now).count());
}

}  // namespace

void JournalThreads::Signal::signal() {
  {
    const std::lock_guard lock(mutex_);
    if (signalled_) return;
    signalled_ = true;
  }
  changed_.notify_one();
}

void JournalThreads::Signal::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

bool JournalThreads::Signal::wait(std::optional<std::uint64_t> until_ms) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return signalled_ || stopping_; };
  if (until_ms) {
    changed_.wait_until(lock, SteadyMs(std::chrono::milliseconds(*until_ms)), ready);
  } else {
    changed_.wait(lock, ready);
  }
  signalled_ = false;
  return !stopping_;
}

JournalThreads::JournalThreads(FileJournal& journal)
    : journal_(journal), told_durable_(raw(journal.durable())), told_room_(journal.has_room()) {
  wake_fd_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_fd_ < 0) throw std::runtime_error("eventfd: " + std::generic_category().message(errno));
  journal_.set_workers(this);
  try {
    writer_thread_ = std::thread([this] { run_writer(); });
    reader_thread_ = std::thread([this] { run_reader(); });
  } catch (...) {
    stop();
    ::close(wake_fd_);
    throw;
  }
}

JournalThreads::~JournalThreads() {
  stop();
  ::close(wake_fd_);
}

void JournalThreads::stop() {
  writer_.stop();
  reader_.stop();
  if (writer_thread_.joinable()) writer_thread_.join();
  if (reader_thread_.joinable()) reader_thread_.join();
  journal_.set_workers(nullptr);
}

void JournalThreads::run_writer() {
  Writer& writer = journal_.writer();
  do {
    while (writer.step(now_ms())) tell_writer_state();
    tell_writer_state();
  } while (writer_.wait(writer.next_ms()));
}

void JournalThreads::run_reader() {
  Reader& reader = journal_.reader();
  do {
    while (reader.step()) {
      if (reader.has_answers()) wake_loop();
    }
    if (journal_.failure()) wake_loop();
    if (journal_.writer().has_removals()) writer_.signal();
  } while (reader_.wait(std::nullopt));
}

void JournalThreads::tell_writer_state() {
  const std::uint64_t durable = raw(journal_.durable());
  const bool room = journal_.has_room();
  const bool failed = journal_.failure().has_value();
  if (durable == told_durable_ && room == told_room_ && failed == told_failed_) return;
  told_durable_ = durable;
  told_room_ = room;
  told_failed_ = failed;
  wake_loop();
}

// One write for all that happens until the loop looks: what was changed before the exchange is seen behind the one in drain().
void JournalThreads::wake_loop() {
  if (woken_.exchange(true)) return;
  const std::uint64_t one = 1;
  SLUICE_CHECK(::write(wake_fd_, &one, sizeof one) == static_cast<ssize_t>(sizeof one));
}

void JournalThreads::drain() {
  std::uint64_t count = 0;
  (void)!::read(wake_fd_, &count, sizeof count);
  woken_.exchange(false);
}

}  // namespace sluice::journal
