#include "io/zmq_router.h"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "base/check.h"

namespace sluice::io {
namespace {

constexpr const char* kMonitorAddress = "inproc://router.monitor";

// A frame that fits is copied into the message; above it, the message takes the buffer over.
constexpr std::size_t kCopyBytesMax = 1'024;

void free_block(void*, void* block) { std::free(block); }

// libzmq draws routing ids from rand(): without a seed they are the same in every run, and a guessable one lets a peer
// take another's place.
void seed_routing_ids() {
  unsigned seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    throw std::runtime_error(std::string("getrandom: ") + std::strerror(errno));
  std::srand(seed);
}

}  // namespace

ZmqRouter::ZmqRouter(const ZmqRouterOptions& options) : options_(options) {
  seed_routing_ids();
  router_ = zmq::socket_t(context_, zmq::socket_type::router);
  router_.set(zmq::sockopt::router_mandatory, true);
  router_.set(zmq::sockopt::linger, 500);  // ms; lets the last BYE out, and no peer holds the exit up
  router_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options_.frame_bytes_max));
  router_.set(zmq::sockopt::handshake_ivl, 3'000);
  router_.set(zmq::sockopt::backlog, 1'024);
  router_.set(zmq::sockopt::tcp_keepalive, 1);
  // Complete messages a peer; what is beyond waits in our outbox, where it is counted in bytes.
  router_.set(zmq::sockopt::sndhwm, 1'000);
  router_.set(zmq::sockopt::rcvhwm, 1'000);
  open_monitor();
  router_fd_ = router_.get(zmq::sockopt::fd);
  monitor_fd_ = monitor_.get(zmq::sockopt::fd);
}

ZmqRouter::~ZmqRouter() {
  zmq_socket_monitor(router_.handle(), nullptr, 0);  // stop: a monitor nobody reads would freeze the socket's close
}

void ZmqRouter::open_monitor() {
  constexpr int kEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                          ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
  if (zmq_socket_monitor(router_.handle(), kMonitorAddress, kEvents) != 0)
    throw std::runtime_error(std::string("socket monitor: ") + zmq_strerror(zmq_errno()));
  monitor_ = zmq::socket_t(context_, zmq::socket_type::pair);
  monitor_.set(zmq::sockopt::rcvhwm, 0);  // before connecting: a full monitor freezes the ROUTER
  monitor_.set(zmq::sockopt::linger, 0);
  monitor_.connect(kMonitorAddress);
}

std::string ZmqRouter::bind(const std::string& address) {
  if (zmq_bind(router_.handle(), address.c_str()) != 0)
    throw std::runtime_error("cannot listen on " + address + ": " + zmq_strerror(zmq_errno()));
  return router_.get(zmq::sockopt::last_endpoint);
}

// Not zmq_poll: it asks every socket before and after, a system call each, and this is done once a turn. The sockets'
// descriptors tell of what is new only: so the ROUTER is asked first, and events() leaves nothing behind.
Ready ZmqRouter::wait(std::int64_t timeout_ms) {
  if ((router_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0) timeout_ms = 0;
  std::array<pollfd, 3> fds{{{router_fd_, POLLIN, 0}, {monitor_fd_, POLLIN, 0}, {options_.wake_fd, POLLIN, 0}}};
  const nfds_t count = options_.wake_fd < 0 ? 2 : 3;
  const int timeout = static_cast<int>(std::min<std::int64_t>(timeout_ms, std::numeric_limits<int>::max()));
  if (poll(fds.data(), count, timeout) < 0) SLUICE_CHECK(errno == EINTR);
  return {fds[1].revents != 0, fds[2].revents != 0};
}

bool ZmqRouter::receive(Received& received) {
  if (!router_.recv(route_, zmq::recv_flags::dontwait)) return false;
  received.parts = 0;
  received.body = {};
  zmq::message_t* part = &route_;
  zmq::message_t dropped;
  while (part->more()) {
    part = received.parts == 0 ? &body_ : &dropped;
    // The parts of a message arrive together.
    SLUICE_CHECK(router_.recv(*part, zmq::recv_flags::dontwait).has_value());
    ++received.parts;
  }
  if (received.parts > 0) {
    received.body = body_.to_string_view();
    // From the second part: in libzmq 4.3 the routing id's part does not tell.
    received.connection = zmq_msg_get(body_.handle(), ZMQ_SRCFD);
  }
  received.route = route_.to_string_view();
  return true;
}

RouterEvents ZmqRouter::events() {
  RouterEvents events;
  zmq::message_t event;
  while (monitor_.recv(event, zmq::recv_flags::dontwait)) {
    std::uint16_t kind = 0;
    std::int32_t value = 0;
    SLUICE_CHECK(event.size() >= sizeof kind + sizeof value);
    std::memcpy(&kind, event.data(), sizeof kind);
    std::memcpy(&value, static_cast<const char*>(event.data()) + sizeof kind, sizeof value);
    zmq::message_t address;
    SLUICE_CHECK(!event.more() || monitor_.recv(address, zmq::recv_flags::dontwait).has_value());
    if (kind == ZMQ_EVENT_ACCEPTED) {
      ++events.accepted;
    } else if (kind == ZMQ_EVENT_DISCONNECTED) {
      events.closed.push_back(value);
    } else {
      ++events.handshakes_failed;
    }
  }
  return events;
}

SendResult ZmqRouter::send(const Route& route, wire::Buffer& frame) {
  if (zmq_send(router_.handle(), route.data(), route.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
    if (zmq_errno() == EAGAIN) return SendResult::full;
    SLUICE_CHECK(zmq_errno() == EHOSTUNREACH);
    return SendResult::gone;
  }
  const std::string_view bytes = frame.view();
  int sent = 0;
  if (bytes.size() <= kCopyBytesMax) {
    sent = zmq_send(router_.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);
    frame.clear();
  } else {
    zmq_msg_t message;
    void* const place = const_cast<char*>(bytes.data());
    const std::size_t size = bytes.size();
    SLUICE_CHECK(zmq_msg_init_data(&message, place, size, free_block, frame.release()) == 0);
    sent = zmq_msg_send(&message, router_.handle(), ZMQ_DONTWAIT);
    if (sent < 0) zmq_msg_close(&message);
  }
  // Once the route was accepted the frame is too; for a peer that dies in between it is dropped.
  SLUICE_CHECK(sent >= 0 || zmq_errno() == EHOSTUNREACH);
  return sent >= 0 ? SendResult::sent : SendResult::gone;
}

}  // namespace sluice::io
