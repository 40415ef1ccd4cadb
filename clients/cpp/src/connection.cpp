#include "connection.h"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <new>

#include "errors.h"

namespace sluice::internal {
namespace {

// Below it a copy is cheaper than sharing the memory with the transport's thread.
constexpr std::size_t kCopyBytesMax = 2048;
constexpr int kHandshakeMs = 3000;
constexpr int kMonitorEvents = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                               ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

void set(void* socket, int option, int value) {
  SLUICE_CHECK(zmq_setsockopt(socket, option, &value, sizeof value) == 0);
}

void* open_socket(void* context, int type) {
  void* const socket = zmq_socket(context, type);
  if (socket == nullptr) throw make_local_error(kErrorNotConnected, std::string("no socket: ") + zmq_strerror(errno));
  return socket;
}

std::string describe(std::uint16_t event) {
  switch (event) {
    case ZMQ_EVENT_DISCONNECTED:
      return "the connection was closed";
    case ZMQ_EVENT_CLOSED:
      return "nobody listens at the address";
    default:
      return "the peer speaks no ZMTP";
  }
}

void let_go(void*, void* hint) { delete static_cast<std::shared_ptr<const wire::Buffer>*>(hint); }

}  // namespace

Connection::Connection() : context_(zmq_ctx_new()) { SLUICE_CHECK(context_ != nullptr); }

Connection::~Connection() { end(); }

void Connection::end() {
  if (context_ == nullptr) return;
  close(Milliseconds(0));
  while (zmq_ctx_term(context_) != 0 && errno == EINTR) {
  }
  context_ = nullptr;
}

void Connection::open(const std::string& url, Milliseconds timeout) {
  SLUICE_CHECK(socket_ == nullptr);
  socket_ = open_socket(context_, ZMQ_DEALER);
  // Only our own retries: a socket that reconnects would send what it had queued before the new HELLO.
  set(socket_, ZMQ_RECONNECT_IVL, -1);
  set(socket_, ZMQ_CONNECT_TIMEOUT, static_cast<int>(std::min<Milliseconds::rep>(timeout.count(), 3'600'000)));
  set(socket_, ZMQ_HANDSHAKE_IVL, kHandshakeMs);
  set(socket_, ZMQ_TCP_KEEPALIVE, 1);
  set(socket_, ZMQ_LINGER, 0);
  // The publish window and credit bound what is queued.
  set(socket_, ZMQ_SNDHWM, 0);
  set(socket_, ZMQ_RCVHWM, 0);

  const std::string events = "inproc://events-" + std::to_string(++opened_count_);
  SLUICE_CHECK(zmq_socket_monitor(socket_, events.c_str(), kMonitorEvents) == 0);
  monitor_ = open_socket(context_, ZMQ_PAIR);
  set(monitor_, ZMQ_LINGER, 0);
  set(monitor_, ZMQ_RCVHWM, 0);
  SLUICE_CHECK(zmq_connect(monitor_, events.c_str()) == 0);
  if (zmq_connect(socket_, url.c_str()) == 0) return;
  const std::string why = zmq_strerror(errno);
  close(Milliseconds(0));
  throw make_local_error(kErrorBadArgument, "cannot connect to '" + url + "': " + why);
}

void Connection::close(Milliseconds linger) {
  if (socket_ == nullptr) return;
  set(socket_, ZMQ_LINGER, static_cast<int>(linger.count()));
  zmq_close(socket_);
  socket_ = nullptr;
  if (monitor_ != nullptr) zmq_close(monitor_);
  monitor_ = nullptr;
}

bool Connection::send(const wire::Buffer& frame) {
  return zmq_send(socket_, frame.view().data(), frame.size(), ZMQ_DONTWAIT) >= 0;
}

bool Connection::send(const std::shared_ptr<const wire::Buffer>& frame) {
  if (frame->size() <= kCopyBytesMax) return send(*frame);
  zmq_msg_t message;
  auto* const owner = new std::shared_ptr<const wire::Buffer>(frame);
  // The transport only reads; its interface has no const.
  if (zmq_msg_init_data(&message, const_cast<char*>(frame->view().data()), frame->size(), let_go, owner) != 0) {
    delete owner;
    throw std::bad_alloc();
  }
  if (zmq_msg_send(&message, socket_, ZMQ_DONTWAIT) >= 0) return true;
  zmq_msg_close(&message);
  return false;
}

bool Connection::receive(Message& message) { return zmq_msg_recv(message.get(), socket_, ZMQ_DONTWAIT) >= 0; }

std::optional<std::string> Connection::failure() {
  Message event;
  if (zmq_msg_recv(event.get(), monitor_, ZMQ_DONTWAIT) < 0) return std::nullopt;
  std::uint16_t number = 0;
  SLUICE_CHECK(event.view().size() >= sizeof number);
  std::memcpy(&number, event.view().data(), sizeof number);
  // Its second part, the address, goes with the monitor: after any of these events the pair is of no more use.
  return describe(number);
}

bool Connection::poll(int wake_fd, TimePoint until) {
  using Wait = std::chrono::duration<std::int64_t, std::milli>;
  const auto left = std::chrono::ceil<Wait>(until - Clock::now()).count();
  const long wait_ms = static_cast<long>(std::clamp<std::int64_t>(left, 0, 60'000));
  std::array<zmq_pollitem_t, 3> items{};
  items[0] = {nullptr, wake_fd, ZMQ_POLLIN, 0};
  items[1] = {socket_, 0, ZMQ_POLLIN, 0};
  items[2] = {monitor_, 0, ZMQ_POLLIN, 0};
  const int count = is_open() ? 3 : 1;
  if (zmq_poll(items.data(), count, wait_ms) < 0) {
    SLUICE_CHECK(errno == EINTR);
    return false;
  }
  return items[0].revents != 0;
}

}  // namespace sluice::internal
