#pragma once
// io/zmq_router.h: Router over a ZeroMQ ROUTER socket and its monitor.
//
// Errors   the constructor and bind() throw std::runtime_error with a text for people: address in use, no permission, ...
// Threads  one. ZeroMQ's own I/O thread is inside.
// Source   what the options are for: DESIGN.md "The socket".

#include <memory>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "io/router.h"

namespace sluice::io {

struct ZmqRouterOptions {
  std::uint64_t frame_bytes_max = 8 * 1024 * 1024;
  int wake_fd = -1;  // wait() also returns when this descriptor can be read
};

class ZmqRouter final : public Router {
 public:
  explicit ZmqRouter(const ZmqRouterOptions& options);
  ~ZmqRouter() override;

  // Returns the address with the port that was chosen for a port of 0.
  std::string bind(const std::string& address);

  Ready wait(std::int64_t timeout_ms) override;
  bool receive(Received& received) override;
  RouterEvents events() override;
  SendResult send(const Route& route, wire::Buffer& frame) override;

 private:
  void open_monitor();

  ZmqRouterOptions options_;
  zmq::context_t context_;
  zmq::socket_t router_;
  zmq::socket_t monitor_;
  int router_fd_ = -1;
  int monitor_fd_ = -1;
  zmq::message_t route_;
  zmq::message_t body_;
};

}  // namespace sluice::io
