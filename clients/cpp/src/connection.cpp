#include "connection.h"

#include <poll.h>
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

int fd_of(void* socket) {
  int fd = -1;
  std::size_t size = sizeof fd;
  SLUICE_CHECK(zmq_getsockopt(socket, ZMQ_FD, &fd, &size) == 0);
  return fd;
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
  socket_fd_ = fd_of(socket_);
  monitor_fd_ = fd_of(monitor_);
  drained_ = monitor_drained_ = false;
  if (zmq_connect(socket_, url.c_str()) == 0) return;
  const std::string why = zmq_strerror(errno);
  close(Milliseconds(0));
  throw make_local_error(kErrorBadArgument, "cannot connect to '" + url + "': " + why);
}

void Connection::close(Milliseconds linger) {
  if (socket_ == nullptr) return;
  set(socket_, ZMQ_LINGER, static_cast<int>(linger.count()));
  // First of all: the I/O thread waits for ever to tell a monitor whose other end was closed (libzmq #3575).
  zmq_socket_monitor(socket_, nullptr, 0);
  zmq_close(socket_);
  socket_ = nullptr;
  if (monitor_ != nullptr) zmq_close(monitor_);
  monitor_ = nullptr;
}

bool Connection::send(const wire::Buffer& frame) {
  drained_ = false;
  return zmq_send(socket_, frame.view().data(), frame.size(), ZMQ_DONTWAIT) >= 0;
}

bool Connection::send(const std::shared_ptr<const wire::Buffer>& frame) {
  if (frame->size() <= kCopyBytesMax) return send(*frame);
  drained_ = false;
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

bool Connection::receive(Message& message) {
  drained_ = zmq_msg_recv(message.get(), socket_, ZMQ_DONTWAIT) < 0;
  return !drained_;
}

std::optional<std::string> Connection::failure() {
  if (monitor_drained_) return std::nullopt;
  Message event;
  monitor_drained_ = zmq_msg_recv(event.get(), monitor_, ZMQ_DONTWAIT) < 0;
  if (monitor_drained_) return std::nullopt;
  std::uint16_t number = 0;
  SLUICE_CHECK(event.view().size() >= sizeof number);
  std::memcpy(&number, event.view().data(), sizeof number);
  Message address;  // the second part: it would be leaked if it were left
  if (event.more()) zmq_msg_recv(address.get(), monitor_, ZMQ_DONTWAIT);
  return describe(number);
}

// On the descriptors themselves: zmq_poll() asks both sockets before and after, six system calls in place of one.
bool Connection::poll(int wake_fd, TimePoint until) {
  using Wait = std::chrono::duration<std::int64_t, std::milli>;
  const auto left = std::chrono::ceil<Wait>(until - Clock::now()).count();
  const int wait_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  std::array<pollfd, 3> items = {{{wake_fd, POLLIN, 0}, {socket_fd_, POLLIN, 0}, {monitor_fd_, POLLIN, 0}}};
  if (::poll(items.data(), is_open() ? 3 : 1, wait_ms) < 0) {
    SLUICE_CHECK(errno == EINTR);
    return false;
  }
  if (items[1].revents != 0) drained_ = false;
  if (items[2].revents != 0) monitor_drained_ = false;
  return items[0].revents != 0;
}

}  // namespace sluice::internal
