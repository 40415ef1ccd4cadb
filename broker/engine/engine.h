#pragma once
// engine/engine.h: the broker's state machine. Deterministic: no I/O, no clock, no threads, no chance but the seed.
//
// Place    session -> decode -> [engine] -> journal, outbox. Called by server/turn only.
// Shapes   in: decoded frames of one session, in order. out: calls of Effects (to peers) and Records (to the journal).
// Errors   none of its own: what a peer asked wrongly is an effect.
// Threads  one. Not copied, not moved.
// Owns     queues, messages, leases, consumers, producers; borrows Effects and Records, which outlive it.
// Source   spec/semantics.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "base/ids.h"
#include "engine/admin.h"
#include "engine/attempts.h"
#include "engine/consumers.h"
#include "engine/dead_letters.h"
#include "engine/dispatcher.h"
#include "engine/effects.h"
#include "engine/leases.h"
#include "engine/messages.h"
#include "engine/now.h"
#include "engine/peer.h"
#include "engine/publisher.h"
#include "engine/queue_table.h"
#include "engine/records.h"
#include "engine/removal.h"
#include "engine/settler.h"
#include "engine/topic_index.h"
#include "wire/frames.h"

namespace sluice::engine {

// What a delivery may hold beside payload and headers: a message must fit into the DELIVER frame as well.
inline constexpr std::uint64_t kDeliveryOverheadBytes = 4'096;

struct EngineOptions {
  Policy policy;  // of queues that do not say otherwise
  bool auto_create = true;
  std::uint64_t queues_max = 1'000'000;
  std::uint64_t consumers_max = 1'024;  // a session
  std::size_t bindings_max = 1'000'000;
  CreditLimits credit;
  PublishWindow window;
  std::uint64_t message_bytes_max = 8 * 1024 * 1024 - kDeliveryOverheadBytes;  // payload and headers
  std::uint64_t seed = 1;
};

class Engine {
 public:
  Engine(const EngineOptions& options, Records& records, Effects& effects);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // `producer` is empty, or names the producer whose sequences go on. Returns its highest sequence known.
  std::uint64_t open_session(SessionId session, std::string_view producer);
  // What the session holds returns.
  void close_session(SessionId session, const Now& now);

  // REQUIRES (all below): the session is open.
  void apply(SessionId session, const wire::Publish& frame, const Now& now);
  void apply(SessionId session, const wire::Consume& frame);
  void apply(SessionId session, const wire::Cancel& frame);
  void apply(SessionId session, const wire::Settle& frame, const Now& now);
  void apply(SessionId session, const wire::Request& frame, const Now& now);
  // A PUBLISH that could not be decoded.
  void refuse_publish(SessionId session, std::uint64_t first_sequence, std::uint64_t count,
                      const wire::ErrorBody& error);

  // Ends the turn: what is due, then deliveries, then confirmations. True if more is due: the next turn must not wait.
  bool finish_turn(const Now& now);
  // When finish_turn() has something to do again, on the steady scale; nullopt: not before the next frame.
  std::optional<std::uint64_t> next_due_ms();

  // Before the first turn, where bodies may be on disk only.
  void set_bodies(Bodies& bodies);
  void attach_body(Message& message, Body& body) { messages_.attach_body(message, body); }
  // Some bodies came: goes on with what waited for them.
  void bodies_arrived(const Now& now);
  // See Publisher::hold().
  void hold_publishes(std::optional<wire::ErrorBody> error) { publisher_.hold(std::move(error)); }

  // From now on nothing is handed out: the broker drains.
  void pause_deliveries() { deliveries_paused_ = true; }
  std::uint64_t message_bytes() const { return messages_.bytes(); }
  std::uint64_t consumers_of(SessionId session) { return peer(session).consumers.size(); }
  std::uint64_t live_leases() const { return leases_.live(); }

  // Leases from the first untold one on are not known to their holders: see Leases::told().
  LeaseId next_lease() const { return leases_.next_id(); }
  LeaseId first_untold_lease() const { return leases_.first_untold(); }
  void hold_untold_leases() { leases_.leave_untold(leases_.next_id()); }
  void leases_told(LeaseId next, std::uint64_t late_ms) { leases_.told(next, late_ms); }

  // For whoever keeps the state and brings it back (durability/).
  struct Parts {
    QueueTable& queues;
    Messages& messages;
    Leases& leases;
    TopicIndex& topics;
    Dispatcher& dispatcher;
    ProducerTable& producers;
    DedupKeys& topic_keys;
    Removal& removal;
  };
  Parts parts() {
    return {queues_, messages_, leases_, topics_, dispatcher_, producers_, publisher_.topic_keys(), removal_};
  }

  // For server.info: counts and counters of all queues, also of deleted ones.
  wire::Map totals() const;

 private:
  // A request that waits for bodies.
  struct Parked {
    SessionId session;
    wire::Request request;
  };

  Peer& peer(SessionId session);
  void handle(const Parked& parked, const Now& now);
  void reply(const Peer& peer, std::uint64_t request, Result<wire::Map> result);

  Effects& effects_;
  bool deliveries_paused_ = false;
  QueueTable queues_;
  Leases leases_;
  TopicIndex topics_;
  Dispatcher dispatcher_;
  Messages messages_;
  DeadLetters dead_letters_;
  Attempts attempts_;
  Consumers consumers_;
  Settler settler_;
  Publisher publisher_;
  Removal removal_;
  Admin admin_;
  ProducerTable producers_;
  std::vector<Parked> parked_;
  absl::flat_hash_map<std::uint64_t, std::unique_ptr<Peer>> peers_;  // by SessionId; never iterated
};

}  // namespace sluice::engine
