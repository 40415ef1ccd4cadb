#pragma once
// clients/cpp/connection.h: one DEALER socket and its monitor; a fresh pair for every try.
//
// Threads  one (the I/O thread).
// Owns     its ZeroMQ context and sockets.
// Errors   send() and receive() return false; bad addresses throw bad_argument.

#include <memory>
#include <optional>
#include <string>

#include "clock.h"
#include "message.h"
#include "sluice/client.h"
#include "wire/buffer.h"

namespace sluice::internal {

class Connection {
 public:
  Connection();
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Starts to connect; what is sent waits for it. REQUIRES: not open.
  void open(const std::string& url, Milliseconds timeout);
  // What was sent gets `linger` to leave. Does not wait.
  void close(Milliseconds linger);
  bool is_open() const { return socket_ != nullptr; }
  // Waits until what close() left behind is gone. Nothing can be opened afterwards.
  void end();

  // False: nobody takes it (any more). The bytes are copied.
  bool send(const wire::Buffer& frame);
  // Large frames are shared with the transport, not copied.
  bool send(const std::shared_ptr<const wire::Buffer>& frame);
  bool receive(Message& message);

  // Why there is no connection, once that is known; received frames may still be waiting then.
  std::optional<std::string> failure();

  // Nothing has come and nothing was sent since receive() said that there is nothing. Only then does the transport promise to
  // wake the next poll(): a send may swallow that signal.
  bool drained() const { return drained_; }
  // Until `until`, or something happened here or at `wake_fd`. Returns whether wake_fd is readable. REQUIRES: drained(), or not open.
  bool poll(int wake_fd, TimePoint until);

 private:
  void* context_;
  void* socket_ = nullptr;
  void* monitor_ = nullptr;
  int socket_fd_ = -1;
  int monitor_fd_ = -1;
  bool drained_ = false;
  bool monitor_drained_ = false;
  std::uint64_t opened_count_ = 0;
};

}  // namespace sluice::internal
