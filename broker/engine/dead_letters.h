#pragma once
// engine/dead_letters.h: where messages go that nobody could handle, and how they come back.
//
// Threads  one.
// Source   spec/semantics.md "Dead letters", "Replay".

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/messages.h"
#include "engine/now.h"
#include "engine/queue_table.h"

namespace sluice::engine {

struct ReplayFilter {
  std::string to;                  // empty: each one's origin
  std::vector<std::uint64_t> ids;  // sorted; empty: all
  std::string reason;              // empty: any
  std::uint64_t limit = 0;         // 0: none
  bool dry_run = false;
};

struct ReplayResult {
  std::uint64_t replayed = 0;
  std::uint64_t refused = 0;  // the target was full, or could not be made
};

// What a dry run has counted for each target so far.
struct ReplayRoom {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};
using ReplayPlan = std::map<std::string, ReplayRoom>;

class DeadLetters {
 public:
  DeadLetters(Messages& messages, QueueTable& queues, Records& records)
      : messages_(messages), queues_(queues), records_(records) {}

  // From its queue to that queue's dead letters, the oldest of which make room. REQUIRES: the queue is not itself one of dead letters;
  // no open lease.
  // `cause`: why its lease ended, if it had one.
  void bury(Message& message, DeadReason reason, Cause cause, const Now& now);
  // The message is past its time to live: dropped, or kept as a dead letter. REQUIRES: no open lease.
  void expire(Message& message, Cause cause, const Now& now);
  // As many as there are too many, the oldest first.
  void apply_bound(const Queue& origin);
  // Those that are in the queue now and not leased.
  Result<ReplayResult> replay(Queue& dead, const ReplayFilter& filter);

 private:
  void make_room(Queue& dead, std::uint64_t messages_max);
  bool replay_one(Message& message, const ReplayFilter& filter, ReplayPlan& plan);
  bool would_take(const std::string& target, std::uint64_t bytes, ReplayPlan& plan);

  Messages& messages_;
  QueueTable& queues_;
  Records& records_;
};

// What peers are told of a dead letter (spec/semantics.md); empty map for other messages.
// The counters of its life so far become those of its death, and start anew.
void end_life(Message& message);
// It was replayed: its counters start anew.
void begin_life(Message& message);
wire::Map dead_map(const Message& message);
// A queue takes no further message.
bool is_full(const Queue& queue, std::uint64_t bytes);
bool is_full(const Policy& policy, std::uint64_t messages, std::uint64_t held_bytes, std::uint64_t bytes);

}  // namespace sluice::engine
