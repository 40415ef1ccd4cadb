#include "core.h"

#include <algorithm>
#include <utility>

#include "errors.h"
#include "validate.h"

namespace sluice::internal {
namespace {

constexpr std::chrono::seconds kCallbacksGrace{1};

}  // namespace

ClientCore::ClientCore(const std::string& url, const ClientOptions& options)
    : options_(options),
      wake_(std::make_shared<Wake>()),
      callbacks_(std::make_shared<Callbacks>()),
      publisher_(options, wake_, callbacks_),
      requests_(wake_),
      loop_(url, options, {wake_, callbacks_, publisher_, requests_, consumers_}) {
  check_url(url);
  check_client_options(options);
  io_ = std::thread([this] { loop_.run(); });
  try {
    loop_.wait_first(options.connect_timeout);
  } catch (const ClientError&) {
    end(Clock::now());
    throw;
  }
}

ClientCore::~ClientCore() { close(); }

std::shared_ptr<ConsumerCore> ClientCore::consume(std::string_view queue, const ConsumeOptions& options) {
  check_consume(queue, options);
  auto consumer = std::make_shared<ConsumerCore>(consumers_.next_number(), queue, options, options_.close_timeout,
                                                 wake_, callbacks_);
  {
    // Before the consumers are closed, or not at all.
    const std::lock_guard lock(mutex_);
    if (closing_) throw make_local_error(kErrorClosed, "the client was closed");
    consumers_.add(consumer);
  }
  wake_->notify();
  consumer->wait_declared(options_.request_timeout);
  return consumer;
}

void ClientCore::close() {
  {
    std::unique_lock lock(mutex_);
    if (closing_) {
      // From inside a callback this would wait for itself: whoever closes may be waiting for the callback.
      if (!callbacks_->inside()) changed_.wait(lock, [this] { return closed_; });
      return;
    }
    closing_ = true;
  }
  const TimePoint deadline = Clock::now() + options_.close_timeout;
  for (const auto& consumer : consumers_.all()) consumer->close(deadline);
  for (const auto& consumer : consumers_.all()) consumer->wait_handler(deadline);
  publisher_.stop(make_local_error(kErrorClosed, "the client was closed"));
  publisher_.wait_decided(deadline);
  end(deadline);
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void ClientCore::end(TimePoint deadline) {
  loop_.stop(deadline);
  io_.join();
  const ClientError closed = make_local_error(kErrorClosed, "the client was closed");
  publisher_.fail_all(closed);
  requests_.fail_all(closed);
  for (const auto& consumer : consumers_.all()) {
    consumer->connection_lost();
    consumer->end(closed);
  }
  loop_.tell_closed();
  // What was just decided is told even if the deadline is over by now.
  callbacks_->stop(std::max(deadline, Clock::now() + kCallbacksGrace));
}

}  // namespace sluice::internal
