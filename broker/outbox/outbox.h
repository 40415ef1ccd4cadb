#pragma once
// outbox/outbox.h: frames to peers, held until what caused them is durable, and until the peer takes them.
//
// Place    engine -> [outbox] -> router.
// Shapes   a line of frames a session, in order. Frames added during a turn are open; seal() gives them the journal's
//          sequence; send_through() sends those that are durable.
// Bounds   a line holds at most `line_bytes_max` bytes; a peer over it does not read and is given up.
// Threads  one.
// Owns     the frames; borrows the router.
// Source   spec/protocol.md sections 4 and 11.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/ids.h"
#include "engine/effects.h"
#include "io/router.h"
#include "wire/buffer.h"
#include "wire/codec.h"

namespace sluice::outbox {

enum class Lost : std::uint8_t { gone, slow };
struct LostSession {
  SessionId session;
  Lost why;
};

struct OutboxOptions {
  std::uint64_t line_bytes_max = 64ULL * 1024 * 1024;
  std::uint64_t frame_bytes_max = 8ULL * 1024 * 1024;
};

class Outbox final : public engine::Effects {
 public:
  Outbox(const OutboxOptions& options, io::Router& router) : options_(options), router_(router) {}

  void open(SessionId session, const io::Route& route);
  void close(SessionId session);

  void confirm(SessionId session, const wire::Confirm& confirm) override;
  void deliver(SessionId session, std::uint64_t consumer, LeaseId first_lease, std::uint64_t lease_ms,
               std::span<engine::Message* const> messages) override;
  void lease_lost(SessionId session, const wire::LeaseLost& lost) override;
  void consumer_closed(SessionId session, const wire::ConsumerClosed& closed) override;
  void settled(SessionId session, const wire::Settled& settled) override;
  void reply(SessionId session, const wire::Reply& reply) override;
  void error(SessionId session, const wire::ErrorFrame& error) override;
  // Any other frame, in its place in the line.
  void add(SessionId session, const wire::BrokerFrame& frame);
  // At once and past every line, to a route that needs no session. Best effort.
  io::SendResult send_now(const io::Route& route, const wire::BrokerFrame& frame);

  // The frames added since the last seal() may go when `sequence` is durable.
  void seal(Sequence sequence);
  void send_through(Sequence durable);

  // Sessions whose peer is gone or too slow, since the last call; each to be closed.
  std::vector<LostSession> take_lost();
  // Sessions to which something was sent, since the last call.
  const std::vector<SessionId>& told() const { return told_; }
  void forget_told() { told_.clear(); }
  // Some peer did not take its frames: send_through() is to be called again soon.
  bool has_blocked() const { return blocked_; }
  std::uint64_t bytes() const { return bytes_; }
  // What waits for one session.
  std::uint64_t bytes(SessionId session) const;

 private:
  struct Frame {
    wire::Buffer bytes;
    Sequence sequence{};
  };
  struct Line {
    SessionId session{};
    io::Route route;
    std::deque<Frame> frames;
    std::size_t sealed = 0;  // this many, from the front
    std::uint64_t bytes = 0;
    bool active = false;  // in active_
    bool lost = false;
  };

  void push(SessionId session, wire::Buffer&& frame);
  void send(Line& line, Sequence durable);
  void lose(Line& line, Lost why);

  OutboxOptions options_;
  io::Router& router_;
  absl::flat_hash_map<std::uint64_t, std::unique_ptr<Line>> lines_;  // by SessionId; never iterated
  std::vector<Line*> active_;                                        // have frames
  std::vector<LostSession> lost_;
  std::vector<SessionId> told_;
  std::uint64_t bytes_ = 0;
  bool blocked_ = false;
  wire::DeliverWriter deliver_;
};

}  // namespace sluice::outbox
