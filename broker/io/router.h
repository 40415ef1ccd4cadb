#pragma once
// io/router.h: the one socket that all peers speak to, behind an interface that the simulator implements too.
//
// Place    peers -> [router] -> server/turn -> outbox -> [router] -> peers.
// Threads  one.
// Source   spec/protocol.md section 2.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/buffer.h"

namespace sluice::io {

// The transport's name for a connection. Never leaves the broker.
using Route = std::string;

enum class SendResult : std::uint8_t {
  sent,  // accepted by the transport; proves nothing about the peer
  full,  // the peer does not read; try again later
  gone,  // no such connection any more
};

// One message of a peer. The body is valid until the next receive().
struct Received {
  std::string_view route;
  int connection = -1;  // what RouterEvents names; -1 if the transport does not tell
  std::string_view body;
  std::size_t parts = 1;  // of which body is the first; all others were dropped
};

// What happened to connections since the last call.
struct RouterEvents {
  std::vector<int> closed;
  std::uint64_t accepted = 0;
  std::uint64_t handshakes_failed = 0;
};

// What wait() found beside messages.
struct Ready {
  bool events = false;  // events() has something to tell
  bool wake = false;    // the descriptor that wakes the loop can be read
};

class Router {
 public:
  virtual ~Router() = default;
  // Until something can be received, something of Ready came, or `timeout_ms` went by (negative: no limit).
  virtual Ready wait(std::int64_t timeout_ms) = 0;
  // False: nothing there.
  virtual bool receive(Received& received) = 0;
  virtual RouterEvents events() = 0;
  // The frame is taken only when `sent`.
  virtual SendResult send(const Route& route, wire::Buffer& frame) = 0;
};

}  // namespace sluice::io
