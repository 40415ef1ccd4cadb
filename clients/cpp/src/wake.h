#pragma once
// clients/cpp/wake.h: wakes the I/O thread, without a system call while it is awake anyway.
//
// Threads  notify*: any. The others: the I/O thread.
// Owns     an eventfd.

#include <atomic>

#include "clock.h"

namespace sluice::internal {

class Wake {
 public:
  Wake();
  ~Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  // There is work. What was written before the call is seen by the turn that follows.
  void notify();
  // There is work, but only at `deadline`: a sleeping thread that will be awake by then is left alone.
  void notify_before(TimePoint deadline);

  int fd() const { return fd_; }
  // False if there is work already: then do not sleep.
  bool prepare_sleep(TimePoint until);
  void woke(bool fd_readable);

 private:
  int fd_;
  std::atomic<bool> pending_{false};
  std::atomic<bool> sleeping_{false};
  std::atomic<TimePoint::rep> until_{0};
};

}  // namespace sluice::internal
