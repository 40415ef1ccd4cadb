#pragma once
// clients/cpp/core.h: the parts of a client, wired together.
//
// Threads  any.
// Owns     the parts and the I/O thread.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "callbacks.h"
#include "consumer_table.h"
#include "io_loop.h"
#include "publisher.h"
#include "requests.h"
#include "sluice/client.h"
#include "wake.h"

namespace sluice::internal {

class ClientCore {
 public:
  // Connects. Throws not_connected, bad_argument.
  ClientCore(const std::string& url, const ClientOptions& options);
  ~ClientCore();

  Publisher& publisher() { return publisher_; }
  wire::Map call(std::string verb, wire::Map arguments) {
    return requests_.call(std::move(verb), std::move(arguments), options_.request_timeout);
  }
  std::shared_ptr<ConsumerCore> consume(std::string_view queue, const ConsumeOptions& options);
  void on_state(Client::StateCallback callback) { loop_.on_state(std::move(callback)); }
  void close();

 private:
  void end(TimePoint deadline);

  const ClientOptions options_;
  const std::shared_ptr<Wake> wake_;
  const std::shared_ptr<Callbacks> callbacks_;
  Publisher publisher_;
  Requests requests_;
  ConsumerTable consumers_;
  IoLoop loop_;
  std::thread io_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  bool closed_ = false;
};

}  // namespace sluice::internal
