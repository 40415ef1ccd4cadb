#include "fake_broker.h"

#include <zmq.h>

#include <algorithm>
#include <array>

#include "message.h"

namespace sluice::test {
namespace {

std::string encoded(const wire::BrokerFrame& frame) {
  wire::Buffer buffer;
  wire::encode(frame, buffer);
  return std::string(buffer.view());
}

}  // namespace

ClientOptions quick_options() {
  ClientOptions options;
  options.connect_timeout = Milliseconds(10'000);
  options.reconnect_delay_min = Milliseconds(5);
  options.reconnect_delay_max = Milliseconds(20);
  return options;
}

FakeBroker::FakeBroker() : url_("tcp://127.0.0.1:*"), context_(zmq_ctx_new()) {
  welcome_.session = 1;
  welcome_.broker = "fake/1";
  welcome_.heartbeat_ms = 5'000;
  welcome_.publish_messages = 65'536;
  welcome_.publish_bytes = 64 * 1024 * 1024;
  welcome_.frame_bytes_max = 8 * 1024 * 1024;
  welcome_.credit_messages_max = 65'535;
  welcome_.credit_bytes_max = 1024 * 1024 * 1024;
  welcome_.sync = "memory";
  start();
}

FakeBroker::~FakeBroker() {
  stop();
  zmq_ctx_term(context_);
}

void FakeBroker::start() {
  router_ = zmq_socket(context_, ZMQ_ROUTER);
  const int linger = 0;
  zmq_setsockopt(router_, ZMQ_LINGER, &linger, sizeof linger);
  // The port of a socket that was just closed is free only once the transport's thread has let go of it.
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (zmq_bind(router_, url_.c_str()) != 0) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    std::this_thread::yield();
  }
  std::array<char, 256> endpoint{};
  std::size_t size = endpoint.size();
  REQUIRE(zmq_getsockopt(router_, ZMQ_LAST_ENDPOINT, endpoint.data(), &size) == 0);
  url_ = endpoint.data();
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void FakeBroker::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify();
  thread_.join();
}

void FakeBroker::run() {
  const auto far = internal::Clock::now() + std::chrono::hours(1);
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    send_all();
    internal::Message peer;
    internal::Message body;
    while (zmq_msg_recv(peer.get(), router_, ZMQ_DONTWAIT) >= 0) {
      zmq_msg_recv(body.get(), router_, 0);
      peer_ = peer.view();
      take(std::string(body.view()));
    }
    if (!wake_.prepare_sleep(far)) continue;
    std::array<zmq_pollitem_t, 2> items{};
    items[0] = {router_, 0, ZMQ_POLLIN, 0};
    items[1] = {nullptr, wake_.fd(), ZMQ_POLLIN, 0};
    zmq_poll(items.data(), 2, -1);
    wake_.woke(items[1].revents != 0);
  }
  zmq_close(router_);
}

void FakeBroker::take(std::string text) {
  const auto bytes = std::make_shared<const std::string>(std::move(text));
  auto frame = wire::decode_client_frame(*bytes);
  REQUIRE_MESSAGE(frame.has_value(), (frame ? "" : frame.error().text));
  const std::lock_guard lock(mutex_);
  if (const auto* const hello = std::get_if<wire::Hello>(&*frame)) {
    const auto answer = answer_ ? answer_(*hello, welcome_) : std::optional<wire::BrokerFrame>(welcome_);
    if (answer) outgoing_.push_back(encoded(*answer));
    hellos_.push_back({bytes, *frame});
    wake_.notify();
  } else if (std::holds_alternative<wire::Heartbeat>(*frame)) {
    heartbeats_.push_back({bytes, *frame});
  } else {
    frames_.push_back({bytes, *std::move(frame)});
  }
  changed_.notify_all();
}

void FakeBroker::send_all() {
  std::vector<std::string> outgoing;
  {
    const std::lock_guard lock(mutex_);
    outgoing.swap(outgoing_);
  }
  for (const std::string& bytes : outgoing) {
    zmq_send(router_, peer_.data(), peer_.size(), ZMQ_SNDMORE);
    zmq_send(router_, bytes.data(), bytes.size(), 0);
  }
}

void FakeBroker::send(const wire::BrokerFrame& frame) { send_bytes(encoded(frame)); }

void FakeBroker::send_bytes(std::string bytes) {
  {
    const std::lock_guard lock(mutex_);
    outgoing_.push_back(std::move(bytes));
  }
  wake_.notify();
}

Received<wire::ClientFrame> FakeBroker::wait_for(Queue& queue) {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, kPatience, [&] { return !queue.empty(); }));
  Received<wire::ClientFrame> next = std::move(queue.front());
  queue.pop_front();
  return next;
}

std::size_t FakeBroker::waiting() {
  const std::lock_guard lock(mutex_);
  return frames_.size();
}

void FakeBroker::confirm(std::uint64_t first_sequence, std::uint64_t count, std::uint64_t first_id) {
  send(wire::Confirm{first_sequence + count - 1, {{first_sequence, first_id, count}}, {}});
}

void FakeBroker::reply_ok(std::uint64_t request, wire::Map result) {
  send(wire::Reply{request, std::move(result), std::nullopt});
}

void FakeBroker::sync(Client& client) {
  std::thread asking([&] { client.server_info(); });
  for (;;) {
    std::unique_lock lock(mutex_);
    const auto is_request = [](const auto& received) { return std::holds_alternative<wire::Request>(received.frame); };
    Queue::iterator found;
    REQUIRE(changed_.wait_for(lock, kPatience, [&] {
      found = std::find_if(frames_.begin(), frames_.end(), is_request);
      return found != frames_.end();
    }));
    const std::uint64_t request = std::get<wire::Request>(found->frame).request;
    frames_.erase(found);
    lock.unlock();
    reply_ok(request);
    break;
  }
  asking.join();
}

}  // namespace sluice::test
