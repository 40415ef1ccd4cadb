#pragma once
// engine/consumers.h: consumers come and go, and what they hold when they go.
//
// Errors   in REPLY: consumer_exists, consumer_limit, bad_credit, unknown_consumer, bad_topic, binding_limit, and those of the queue table.
// Threads  one.
// Source   spec/protocol.md section 8.

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "engine/attempts.h"
#include "engine/dispatcher.h"
#include "engine/effects.h"
#include "engine/leases.h"
#include "engine/now.h"
#include "engine/peer.h"
#include "engine/queue_table.h"
#include "engine/settler.h"
#include "engine/topic_index.h"

namespace sluice::engine {

class Consumers {
 public:
  Consumers(const CreditLimits& limits, std::uint64_t consumers_max, QueueTable& queues, Leases& leases,
            Attempts& attempts, Dispatcher& dispatcher, TopicIndex& topics, Records& records, Effects& effects)
      : limits_(limits),
        consumers_max_(consumers_max),
        queues_(queues),
        leases_(leases),
        attempts_(attempts),
        dispatcher_(dispatcher),
        topics_(topics),
        records_(records),
        effects_(effects) {}

  Result<void> add(Peer& peer, const wire::Consume& frame);
  // Its leases run on: it is only taken off its queue, and goes when the last one ends. Gives the queue that was its alone, if there
  // is one: it is to be removed.
  Result<Queue*> cancel(Peer& peer, std::uint64_t number);
  // The session is lost: what its consumers hold returns. Gives the queues that were theirs alone: these are to be removed.
  std::vector<Queue*> lose(Peer& peer, const Now& now);
  // The queue goes: its leases end, their holders and its consumers are told.
  void close_all(Queue& queue);
  // A lease ran out.
  void expire(Lease& lease, const Now& now);
  // Tells the holders of the leases that ended since the last call.
  void tell_losses(ErrorCode why = ErrorCode::lease_expired);

  std::uint64_t count() const { return count_; }

 private:
  Result<Queue*> queue_for(const Peer& peer, const wire::Consume& frame);
  void note_loss(const Lease& lease);
  void forget_loss(Consumer& consumer);
  void sweep_cancelled(Peer& peer);

  CreditLimits limits_;
  std::uint64_t consumers_max_;
  QueueTable& queues_;
  Leases& leases_;
  Attempts& attempts_;
  Dispatcher& dispatcher_;
  TopicIndex& topics_;
  Records& records_;
  Effects& effects_;
  std::vector<Consumer*> losers_;  // have losses to be told
  std::uint64_t count_ = 0;
};

}  // namespace sluice::engine
