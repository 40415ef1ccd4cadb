#pragma once
// clients/cpp/requests.h: requests and their replies.
//
// Place    callers -> [requests] -> I/O thread -> broker, and back.
// Threads  call() and add() any, call() not the I/O thread; the rest the I/O thread. Handlers run on the I/O thread, and no lock is held.
// Errors   the broker's; timeout, connection_lost, and what fail_all() was given.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/client.h"
#include "wake.h"
#include "wire/buffer.h"
#include "wire/frames.h"

namespace sluice::internal {

class Requests {
 public:
  using Outcome = tl::expected<wire::Map, ClientError>;
  using Handler = std::function<void(Outcome)>;

  explicit Requests(std::shared_ptr<Wake> wake) : wake_(std::move(wake)) {}

  // Sends, and waits for the reply; while disconnected, also for the connection.
  wire::Map call(std::string verb, wire::Map arguments, Milliseconds timeout);

  // The largest frame that the broker takes; larger requests are refused here.
  void limit_frame_bytes(std::uint64_t frame_bytes_max) { frame_bytes_max_ = frame_bytes_max; }

  // A number for a request that the caller sends itself at once (CONSUME, CANCEL). `handler` is called once.
  std::uint64_t add(Handler handler);
  // The next frame to send, or nothing. It counts as sent.
  std::optional<wire::Buffer> next_frame();
  void reply(wire::Reply reply);
  // What was sent fails with connection_lost; what was not goes out on the next connection.
  void connection_lost();
  // Now and from now on.
  void fail_all(const ClientError& error);

 private:
  struct Pending {
    Handler handler;
    bool sent = false;
  };
  struct Outgoing {
    std::uint64_t request;
    wire::Buffer frame;
  };
  Handler remove(std::uint64_t request);

  std::shared_ptr<Wake> wake_;
  std::atomic<std::uint64_t> frame_bytes_max_{0};
  std::mutex mutex_;
  std::uint64_t next_request_ = 1;
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::vector<Outgoing> outgoing_;
  std::size_t outgoing_next_ = 0;
  std::optional<ClientError> failure_;
};

}  // namespace sluice::internal
