#pragma once
// sim/client.h: what all clients have in common: a connection that comes back, HELLO, heartbeats, numbers of requests.
//
// Shapes   on_*: what a kind of client does about it.
// Threads  one.
// Source   spec/protocol.md sections 5 and 6.

#include <cstdint>
#include <string>
#include <vector>

#include "network.h"
#include "oracle.h"
#include "settings.h"
#include "wire/codec.h"

namespace sluice::sim {

// What actors need of each other.
struct Stage {
  World& world;
  Network& network;
  Oracle& oracle;
  const Settings& settings;
  bool calm = false;                // faults have ended
  std::uint64_t excused_us = 0;     // until then silence of the broker is nobody's fault
  std::uint64_t slow_until_us = 0;  // until then answers may wait for the disk; signs of life may not
};

class Client : public Endpoint {
 public:
  Client(Stage& stage, std::string name, std::uint64_t salt);
  ~Client() override = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void start();
  void received(std::string_view frame) final;
  void disconnected() final;

  bool open() const { return session_ != 0; }
  // Nothing that it still has to do before a run may end.
  virtual bool idle() const { return open(); }
  std::uint64_t session() const { return session_; }
  const std::string& name() const { return name_; }
  Link* link() { return link_; }
  // --- faults
  void kill(bool noticed);  // the process dies; another one takes its place a moment later
  void freeze(std::uint64_t us);
  void say_hello_again();

 protected:
  virtual wire::Hello hello();
  virtual void on_open(const wire::Welcome&) {}
  virtual void on_closed() {}
  virtual void on_frame(const wire::BrokerFrame&) {}

  void send(const wire::ClientFrame& frame);
  void send_bytes(std::string bytes, std::size_t parts = 1);
  void leave();  // BYE, and a new connection later
  std::uint64_t next_request() { return next_request_++; }

  Stage& stage_;
  World& world_;
  Random random_;

 private:
  void connect();
  void connect_later();
  void lose();
  void take(std::string_view frame);
  void beat(std::uint64_t link);

  std::string name_;
  Link* link_ = nullptr;
  std::uint64_t session_ = 0;
  std::uint64_t heartbeat_us_ = 0;
  std::uint64_t heard_us_ = 0;
  std::uint64_t said_us_ = 0;
  std::uint64_t frozen_until_us_ = 0;
  std::vector<std::string> unread_;
  std::uint64_t next_request_ = 1;
  std::uint64_t tries_ = 0;
};

}  // namespace sluice::sim
