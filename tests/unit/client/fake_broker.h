#pragma once
// tests/unit/client/fake_broker.h: a broker that does what the test says, frame by frame.
//
// Place    client library -> [fake broker] -> test. HELLO is answered by itself; everything else waits for expect().
// Threads  the test's; one of its own for the ROUTER socket.
// Errors   expect() fails the test after kPatience.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "sluice/client.h"
#include "wake.h"
#include "wire/codec.h"

namespace sluice::test {

// Less than three heartbeats: a fake broker sends none, and a client that leaves it for that would hide why.
inline constexpr std::chrono::seconds kPatience{10};

// A frame and the bytes that its views point to.
template <class Frame>
struct Received {
  std::shared_ptr<const std::string> bytes;
  Frame frame;
  const Frame* operator->() const { return &frame; }
};

class FakeBroker {
 public:
  FakeBroker();
  ~FakeBroker();

  const std::string& url() const { return url_; }
  // Changes the WELCOMEs to come.
  template <class Change>
  void set_welcome(Change change) {
    const std::lock_guard lock(mutex_);
    change(welcome_);
  }
  // Answers the HELLOs to come by something else than welcome(), or not at all (nullopt). Called on the broker's thread.
  using Answer = std::function<std::optional<wire::BrokerFrame>(const wire::Hello&, const wire::Welcome&)>;
  void answer_hello(Answer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }

  // Connections are cut, and new ones refused until start().
  void stop();
  void start();

  void send(const wire::BrokerFrame& frame);
  void send_bytes(std::string bytes);
  // The next frame that is no HELLO and no HEARTBEAT.
  template <class Frame>
  Received<Frame> expect() {
    auto next = wait_for(frames_);
    REQUIRE_MESSAGE(std::holds_alternative<Frame>(next.frame), "frame type ", next.frame.index());
    return {next.bytes, std::get<Frame>(next.frame)};
  }
  // The same, of any type.
  template <class See>
  void next(See see) {
    see(wait_for(frames_));
  }
  wire::Hello expect_hello() { return std::get<wire::Hello>(wait_for(hellos_).frame); }
  void expect_heartbeat() { wait_for(heartbeats_); }
  // What came and was not expected yet.
  std::size_t waiting();
  // Everything that the client has sent before now is here afterwards. REQUIRES: an idle request mechanism in `client`.
  void sync(Client& client);

  void confirm(std::uint64_t first_sequence, std::uint64_t count, std::uint64_t first_id);
  void reply_ok(std::uint64_t request, wire::Map result = {});

 private:
  using Queue = std::deque<Received<wire::ClientFrame>>;

  Received<wire::ClientFrame> wait_for(Queue& queue);
  void run();
  void take(std::string bytes);
  void send_all();

  std::string url_;
  void* context_;
  void* router_ = nullptr;
  internal::Wake wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Queue frames_, hellos_, heartbeats_;
  std::vector<std::string> outgoing_;
  wire::Welcome welcome_;
  Answer answer_;
  std::string peer_;
  bool stopping_ = false;
  std::thread thread_;
};

// Short times, so that a test that waits for one of them is quick.
ClientOptions quick_options();

}  // namespace sluice::test
