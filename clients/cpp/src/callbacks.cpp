#include "callbacks.h"

#include <iterator>
#include <utility>

namespace sluice::internal {
namespace {

thread_local const Callbacks* t_inside = nullptr;

}  // namespace

Callbacks::Scope::Scope(const Callbacks& callbacks) : outer_(std::exchange(t_inside, &callbacks)) {}
Callbacks::Scope::~Scope() { t_inside = outer_; }

bool Callbacks::inside() const { return t_inside == this; }

// The thread holds a reference, so it has ended or is this one.
Callbacks::~Callbacks() {
  if (thread_.joinable()) thread_.detach();
}

void Callbacks::post(Callback callback) {
  std::vector<Callback> one;
  one.push_back(std::move(callback));
  post(std::move(one));
}

void Callbacks::post(std::vector<Callback> callbacks) {
  if (callbacks.empty()) return;
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  std::move(callbacks.begin(), callbacks.end(), std::back_inserter(posted_));
  if (!thread_.joinable()) {
    finished_ = false;
    thread_ = std::thread([self = shared_from_this()] { self->run(); });
  }
  changed_.notify_all();
}

void Callbacks::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !posted_.empty(); });
    if (posted_.empty()) break;
    std::vector<Callback> callbacks = std::exchange(posted_, {});
    lock.unlock();
    {
      const Scope scope(*this);
      for (const Callback& callback : callbacks) callback();
      callbacks.clear();  // what they hold is let go in here as well: it may be the client
    }
    lock.lock();
  }
  finished_ = true;
  changed_.notify_all();
}

void Callbacks::stop(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  if (!thread_.joinable()) return;
  const bool ended = !inside() && changed_.wait_until(lock, deadline, [this] { return finished_; });
  std::thread thread = std::move(thread_);
  lock.unlock();
  if (ended) {
    thread.join();
  } else {
    thread.detach();
  }
}

}  // namespace sluice::internal
