#pragma once
// cli/stop_signals.h: SIGINT and SIGTERM as calls on a thread, so that a running message can be finished; and a pipe on stdout whose
// reader went away, which would else be noticed with the next message only.
//
// Threads  construct before any other thread is started: the block on the signals is inherited. Callbacks run on its own thread.
// Owns     one thread, from watch() to the destructor.

#include <atomic>
#include <functional>
#include <thread>

namespace sluice::cli {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // `first` at the first signal, or when nobody reads our stdout any more; `second` at the next signal, after which the process ends at once (exit 130 or 143, as shells expect).
  void watch(std::function<void()> first, std::function<void()> second);
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

 private:
  void run(const std::function<void()>& first, const std::function<void()>& second);

  int signals_ = -1;  // signalfd
  int wake_ = -1;     // eventfd of the destructor
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace sluice::cli
