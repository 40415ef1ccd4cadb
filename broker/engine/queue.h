#pragma once
// engine/queue.h: a queue and the consumers on it. Data; what is done with them is in messages, leases and dispatcher.
//
// Threads  one.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "engine/blocked.h"
#include "engine/counters.h"
#include "engine/dedup_keys.h"
#include "engine/message.h"
#include "engine/policy.h"
#include "engine/ready_list.h"
#include "wire/frames.h"

namespace sluice::engine {

struct Queue;
struct Peer;

struct Consumer {
  Peer* peer = nullptr;
  SessionId session{};
  std::uint64_t number = 0;  // the client's
  Queue* queue = nullptr;
  std::uint64_t credit_messages = 0;
  std::int64_t credit_bytes = 0;  // may end below 0 by one delivery
  std::uint64_t held = 0;         // leases
  Lease* oldest = nullptr;        // its leases, in order of hand-out
  Lease* newest = nullptr;
  std::uint64_t served_turn = 0;  // when it was last given something; orders consumers of equal load
  // As they were when it was put into Queue::available: they order it there and may not change meanwhile.
  std::uint64_t listed_held = 0;
  std::uint64_t listed_turn = 0;
  bool listed = false;
  bool owns_queue = false;             // an unnamed subscription: the queue was made for it, and goes with it
  bool cancelled = false;              // off its queue; stays until its leases have ended
  bool alone = false;                  // holds a suspect, and gets nothing else meanwhile
  bool reserved = false;               // gets nothing more until it holds nothing: a suspect waits for it
  bool touched = false;                // in Queue::touched
  std::vector<Message*> assigned;      // this turn's deliveries, before they have leases
  std::vector<wire::LeaseRange> lost;  // this turn's expired leases, not yet told

  bool has_credit() const { return credit_messages > 0 && credit_bytes > 0; }
  bool takes_work() const { return has_credit() && !alone && !reserved; }
};

// Consumers with credit: the least loaded first, then the one that waited longest.
struct ByLoad {
  bool operator()(const Consumer* a, const Consumer* b) const {
    if (a->listed_held != b->listed_held) return a->listed_held < b->listed_held;
    return a->listed_turn < b->listed_turn;  // unique
  }
};

struct Queue {
  std::string name;
  std::uint64_t number = 0;   // from 1; never reused
  Sequence home{};            // the turn of the newest record that has its bindings behind it
  std::uint64_t counted = 0;  // the sum of its counters in its newest record
  Policy policy;
  bool temporary = false;     // an unnamed subscription's: goes with it, or with the broker
  bool dead_letters = false;  // its name ends in .dlq
  bool paused = false;        // nothing is handed out
  ReadyList ready;
  ReadyList suspects;        // ready too, each to be handed out alone
  Message* first = nullptr;  // all messages, by position
  Message* last = nullptr;
  std::uint64_t ready_count = 0;
  std::uint64_t delayed_count = 0;
  std::uint64_t leased_count = 0;
  std::uint64_t bytes = 0;         // payloads and headers
  std::uint64_t on_disk_only = 0;  // messages without a body in memory
  std::uint64_t fetching = 0;      // of them: reads under way
  Counters counters;
  std::vector<Consumer*> consumers;  // in order of arrival
  std::set<Consumer*, ByLoad> available;
  Consumer* reserved = nullptr;
  std::uint64_t alone_count = 0;                              // consumers that hold a suspect
  std::vector<Consumer*> touched;                             // load or credit changed since the last dispatch
  bool dirty = false;                                         // on the dispatcher's list
  std::map<std::uint64_t, std::unique_ptr<Blocked>> blocked;  // publishes that wait for room, in order
  std::unique_ptr<DedupKeys> keys;                            // made by need

  std::uint64_t count() const { return ready_count + delayed_count + leased_count; }
};

}  // namespace sluice::engine
