#pragma once
// server/server_counters.h: what happened at the socket and to sessions since the broker began. None ever falls.

#include <cstdint>

#include "wire/value.h"

namespace sluice::server {

struct ServerCounters {
#define SLUICE_SERVER_COUNTERS(X)                               \
  X(connections_accepted)                                       \
  X(connections_closed)                                         \
  X(handshakes_failed)                                          \
  X(frames_received)                                            \
  X(frames_malformed) /* could not be decoded, from whomever */ \
  X(frames_without_session)                                     \
  X(sessions_opened)                                            \
  X(sessions_closed)                                            \
  X(sessions_silent) /* closed for missed heartbeats */         \
  X(sessions_slow)   /* closed because the peer did not read */ \
  X(sessions_refused)

#define SLUICE_COUNTER_FIELD(name) std::uint64_t name = 0;
  SLUICE_SERVER_COUNTERS(SLUICE_COUNTER_FIELD)
#undef SLUICE_COUNTER_FIELD

  void add_to(wire::Map& map) const {
#define SLUICE_COUNTER_ENTRY(name) map.set(#name, name);
    SLUICE_SERVER_COUNTERS(SLUICE_COUNTER_ENTRY)
#undef SLUICE_COUNTER_ENTRY
  }
};

}  // namespace sluice::server
