#pragma once
// tests/unit/fakes/fake_router.h: a Router without a network, and a clock that the test moves.

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/clock.h"
#include "io/router.h"
#include "wire/codec.h"

namespace sluice::io {

class FakeClock final : public Clock {
 public:
  Time now() override { return time; }
  std::uint64_t steady_ms_up() override { return time.steady_ms + part_ms; }
  void pass(std::uint64_t ms) {
    time.steady_ms += ms;
    time.wall_ms += ms;
  }
  Time time{1'000'000, 1'700'000'000'000};
  std::uint64_t part_ms = 0;  // 1: it stands between two whole milliseconds; more: so much went by within a turn
};

class FakeRouter final : public Router {
 public:
  Ready wait(std::int64_t timeout_ms) override {
    waits.push_back(timeout_ms);
    return {true, std::exchange(wake, false)};
  }

  bool receive(Received& received) override {
    if (incoming.empty()) return false;
    current_ = std::move(incoming.front());
    incoming.pop_front();
    received = {current_.route, current_.connection, current_.body, current_.parts};
    return true;
  }

  RouterEvents events() override { return std::exchange(next_events, {}); }

  SendResult send(const Route& route, wire::Buffer& frame) override {
    if (gone.contains(route)) return SendResult::gone;
    if (full.contains(route)) return SendResult::full;
    sent[route].emplace_back(frame.view());
    frame.clear();
    return SendResult::sent;
  }

  void put(const std::string& route, const wire::ClientFrame& frame, int connection = -1) {
    wire::Buffer buffer;
    wire::encode(frame, buffer);
    put_bytes(route, std::string(buffer.view()), connection);
  }
  void put_bytes(const std::string& route, std::string bytes, int connection = -1, std::size_t parts = 1) {
    incoming.push_back({route, connection, std::move(bytes), parts});
  }

  // What was sent to the route since the last call, decoded; views die with the next call for the same route.
  std::vector<wire::BrokerFrame> take(const std::string& route) {
    taken_[route] = std::exchange(sent[route], {});
    std::vector<wire::BrokerFrame> frames;
    for (const std::string& bytes : taken_[route]) frames.push_back(wire::decode_broker_frame(bytes).value());
    return frames;
  }
  // The only frame of that type among them.
  template <class Frame>
  Frame take_one(const std::string& route) {
    std::vector<Frame> found;
    for (const auto& frame : take(route))
      if (const auto* wanted = std::get_if<Frame>(&frame)) found.push_back(*wanted);
    if (found.size() != 1) throw std::runtime_error("frames of that type: " + std::to_string(found.size()));
    return found[0];
  }

  struct Incoming {
    std::string route;
    int connection;
    std::string body;
    std::size_t parts;
  };
  std::deque<Incoming> incoming;
  RouterEvents next_events;
  std::map<std::string, std::vector<std::string>> sent;
  std::set<std::string> gone;
  std::set<std::string> full;
  std::vector<std::int64_t> waits;
  bool wake = false;  // the next wait() finds that the loop was woken

 private:
  Incoming current_;
  std::map<std::string, std::vector<std::string>> taken_;
};

}  // namespace sluice::io
