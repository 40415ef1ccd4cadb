#pragma once
// journal/journal_threads.h: runs a journal's writer and reader, each on a thread of its own, and wakes the loop.
//
// Place    loop <- [journal_threads] -> writer, reader.
// Threads  its own two, which inherit the blocked signals (io/signals.h); the rest is called from the loop.
// Owns     threads and the descriptor; borrows the journal, which outlives it.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "journal/file_journal.h"

namespace sluice::journal {

class JournalThreads final : public Workers {
 public:
  // Throws std::runtime_error or std::system_error when the system gives no descriptor or no thread.
  explicit JournalThreads(FileJournal& journal);
  ~JournalThreads() override;
  JournalThreads(const JournalThreads&) = delete;
  JournalThreads& operator=(const JournalThreads&) = delete;

  // Readable when durable() rose, has_room() changed, something can be taken, or it failed: once for all that happened until drain().
  int wake_fd() const { return wake_fd_; }
  // Before looking at the journal.
  void drain();
  // Ends the threads after what they are at. Then FileJournal::close().
  void stop();

  void writer_has_work() override { writer_.signal(); }
  void reader_has_work() override { reader_.signal(); }

 private:
  // "There is work", for one thread that waits.
  class Signal {
   public:
    void signal();
    void stop();
    // False: stop. `until_ms`: on the steady clock.
    bool wait(std::optional<std::uint64_t> until_ms);

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool signalled_ = false;
    bool stopping_ = false;
  };

  void run_writer();
  void run_reader();
  void tell_writer_state();
  void wake_loop();

  FileJournal& journal_;
  int wake_fd_ = -1;
  std::atomic<bool> woken_{false};
  std::uint64_t told_durable_;  // the writer's thread only, as the next two
  bool told_room_;
  bool told_failed_ = false;
  Signal writer_;
  Signal reader_;
  std::thread writer_thread_;
  std::thread reader_thread_;
};

}  // namespace sluice::journal
