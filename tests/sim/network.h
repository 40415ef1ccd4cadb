#pragma once
// sim/network.h: the broker's socket, and the connections to it, with what can go wrong on the way.
//
// Place    clients -> [network] -> Server, and back.
// Shapes   frames of one connection arrive in order or not at all. Connections end with notice (the transport tells the broker,
//          perhaps before it hands over what came last) or without (half-open: what is sent vanishes).
// Errors   Interrupt leaves Server::turn() when the broker is to die, or the run is over.
// Source   spec/protocol.md section 2; broker/io/router.h.

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/router.h"
#include "world.h"

namespace sluice::sim {

// Leaves the broker's code at the next call to the network.
struct Interrupt {};

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual void received(std::string_view frame) = 0;
  virtual void disconnected() = 0;
};

// One connection. Links are kept for a whole run, so that what is under way can name them.
struct Link {
  std::uint64_t id = 0;
  std::string route;
  int number = -1;                 // of its descriptor in the broker; reused when it is free
  Endpoint* client = nullptr;      // nullptr: gone
  bool broker_has = true;          // its transport believes in the connection
  bool half_open = false;          // nothing arrives any more, on either side
  bool reads = true;               // the client takes what is sent
  bool blocked_once = false;       // it did not, at some time
  std::uint64_t to_broker_us = 0;  // when the last frame under way arrives
  std::uint64_t to_client_us = 0;
};

// Who looks at every frame that passes the broker's socket.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void received(Link& link, std::string_view frame, std::size_t parts) = 0;
  virtual void sent(Link& link, std::string_view frame) = 0;
  // The transport told the broker that the connection closed.
  virtual void told_closed(Link& link) = 0;
  virtual void found_gone(Link& link) = 0;
  virtual void held_up(Link& link) = 0;  // the peer did not take a frame
};

struct NetworkOptions {
  std::uint64_t delay_us_min = 20;
  std::uint64_t delay_us_max = 200;
  bool notice_first = false;  // a close is told before the last frames are handed over
};

class Network final : public io::Router {
 public:
  Network(World& world, const NetworkOptions& options) : world_(world), options_(options), random_(world.stream(1)) {}

  // --- the broker's side
  io::Ready wait(std::int64_t timeout_ms) override;
  bool receive(io::Received& received) override;
  io::RouterEvents events() override;
  io::SendResult send(const io::Route& route, wire::Buffer& frame) override;

  // --- the clients' side. nullptr: nobody listens.
  Link* connect(Endpoint& client);
  void send(Link& link, std::string bytes, std::size_t parts = 1);
  // What was sent before still arrives, then the broker is told.
  void close(Link& link);
  // Nobody is told anything.
  void vanish(Link& link);
  void cut(Link& link);  // both sides are told; what is under way is lost

  // --- the world's side
  void observe(Observer& observer) { observer_ = &observer; }
  void broker_started() { listening_ = true; }
  // `told`: the clients learn it at once.
  void broker_died(bool told);
  void stall_until(std::uint64_t us) { stalled_until_us_ = us; }
  void interrupt() { interrupted_ = true; }
  // Not between two turns, but when so many more frames have been sent.
  void interrupt_after_sends(std::uint64_t count) { sends_left_ = count; }
  void wake() { wake_ = true; }
  std::uint64_t delay_us_max() const { return options_.delay_us_max; }
  std::vector<Link*> links();

 private:
  struct Incoming {
    Link* link;
    std::string bytes;
    std::size_t parts;
  };

  std::uint64_t delay_us() { return random_.between(options_.delay_us_min, options_.delay_us_max); }
  void arrive(Link& link, std::string bytes, std::size_t parts);
  void broker_loses(Link& link);
  bool has_something() const { return !incoming_.empty() || !closed_.empty() || accepted_ != 0 || wake_; }

  World& world_;
  NetworkOptions options_;
  Random random_;
  Observer* observer_ = nullptr;
  bool listening_ = false;
  bool interrupted_ = false;
  std::uint64_t sends_left_ = 0;
  bool wake_ = false;
  std::uint64_t stalled_until_us_ = 0;
  std::uint64_t idle_turns_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t next_link_ = 1;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::pair<std::string, Link*>> routes_;  // sorted by route; those that the broker's transport knows
  std::set<int> free_numbers_;
  int next_number_ = 10;
  std::deque<Incoming> incoming_;
  Incoming current_{};
  std::vector<Link*> closed_;
};

}  // namespace sluice::sim
