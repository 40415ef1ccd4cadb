#include "cli/binding_keeper.h"

#include <utility>

#include "cli/context.h"
#include "cli/text.h"

namespace sluice::cli {

void BindingKeeper::keep(Binding binding) {
  binding_ = std::move(binding);
  bind();
  thread_ = std::thread([this] {
    while (wait_for_wish()) renew();
  });
}

std::function<void()> BindingKeeper::renewal() const {
  return [wish = wish_] {
    const std::lock_guard lock(wish->mutex);
    wish->renew = true;
    wish->changed.notify_all();
  };
}

void BindingKeeper::close() {
  {
    const std::lock_guard lock(wish_->mutex);
    wish_->close = true;
    wish_->changed.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

bool BindingKeeper::wait_for_wish() {
  std::unique_lock lock(wish_->mutex);
  wish_->changed.wait(lock, [this] { return wish_->renew || wish_->close; });
  wish_->renew = false;
  return !wish_->close;
}

void BindingKeeper::renew() {
  try {
    bind();
  } catch (const ClientError& error) {
    // A connection that is lost once more asks again when it is back.
    note("cannot bind queue " + escape(binding_.queue) + " to " + escape(binding_.pattern) + " again: " + error.what());
  }
}

void BindingKeeper::bind() {
  if (client_.bind(binding_.queue, binding_.pattern))
    note("bound queue " + escape(binding_.queue) + " to " + escape(binding_.pattern));
}

}  // namespace sluice::cli
