#pragma once
// session/session.h: one peer from HELLO to its end.

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "io/router.h"

namespace sluice::session {

struct Session {
  SessionId id{};
  io::Route route;
  int connection = -1;
  std::string client;  // the peer's name for itself
  std::string agent;
  std::uint64_t heartbeat_ms = 0;
  std::uint64_t opened_ms = 0;  // steady
  std::uint64_t heard_ms = 0;   // steady
  std::uint64_t told_ms = 0;    // steady
  std::uint64_t malformed = 0;  // frames
};

}  // namespace sluice::session
