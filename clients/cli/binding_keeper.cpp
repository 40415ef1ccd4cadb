#include "cli/binding_keeper.h"

#include <utility>

#include "cli/context.h"
#include "cli/text.h"

namespace sluice::cli {

void BindingKeeper::keep(Binding binding) {
  binding_ = std::move(binding);
  bind();
  thread_ = std::thread([this] { renew_when_asked(); });
}

void BindingKeeper::renew() {
  const std::lock_guard lock(mutex_);
  asked_ = true;
  changed_.notify_all();
}

void BindingKeeper::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void BindingKeeper::bind() {
  if (client_.bind(binding_.queue, binding_.pattern))
    note("bound queue " + escape(binding_.queue) + " to " + escape(binding_.pattern));
}

void BindingKeeper::renew_when_asked() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return asked_ || closed_; });
    if (closed_) return;
    asked_ = false;
    lock.unlock();
    try {
      bind();
    } catch (const ClientError& error) {
      // A connection that is lost again asks again when it is back.
      note("cannot bind queue " + escape(binding_.queue) + " to " + escape(binding_.pattern) + " again: " + error.what());
    }
    lock.lock();
  }
}

}  // namespace sluice::cli
