#pragma once
// engine/peer.h: what the engine knows of one session: its producer, its confirmations of this turn, its consumers.
//
// Threads  one.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>

#include "base/ids.h"
#include "engine/producer.h"
#include "engine/queue.h"
#include "wire/frames.h"

namespace sluice::engine {

struct Peer {
  SessionId session{};
  std::string producer_name;  // empty: the sequences are the session's own
  Producer own_producer;      // used then
  Producer* producer = nullptr;
  wire::Confirm confirm;  // of this turn
  std::uint64_t unconfirmed_messages = 0;
  std::uint64_t unconfirmed_bytes = 0;
  std::uint64_t blocked_messages = 0;  // of the unconfirmed: those that wait for room in a queue
  std::uint64_t blocked_bytes = 0;
  bool confirms = false;  // on the publisher's list of this turn
  absl::btree_map<std::uint64_t, std::unique_ptr<Consumer>> consumers;
  std::vector<std::unique_ptr<Consumer>> cancelled;  // that may still hold leases
};

}  // namespace sluice::engine
