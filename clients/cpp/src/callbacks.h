#pragma once
// clients/cpp/callbacks.h: the thread on which a client calls back, and who is inside a callback.
//
// Threads  any; the thread is started with the first callback. Callbacks run one at a time, in the order of post().
//          They must not throw: an exception ends the process, as it does in any thread.
// Owns     its thread, which also holds this object: a client that is closed from inside a callback is outlived by it.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "clock.h"

namespace sluice::internal {

class Callbacks : public std::enable_shared_from_this<Callbacks> {
 public:
  using Callback = std::function<void()>;

  ~Callbacks();

  // After stop() callbacks are dropped.
  void post(Callback callback);
  void post(std::vector<Callback> callbacks);

  // Runs what was posted, then ends the thread; waits for it until `deadline`, and not at all from inside a callback.
  void stop(TimePoint deadline);

  // Whether this thread is inside a callback or a handler of this client. There nothing may wait for callbacks or handlers.
  bool inside() const;

  // Marks this thread as running a callback or handler.
  class Scope {
   public:
    explicit Scope(const Callbacks& callbacks);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Callbacks* outer_;
  };

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Callback> posted_;
  bool stopping_ = false;
  bool finished_ = true;  // no thread, or it is past its last callback
  std::thread thread_;
};

}  // namespace sluice::internal
