#include "engine/engine.h"

#include <algorithm>

#include "base/check.h"
#include "wire/errors.h"

namespace sluice::engine {
namespace {

// Leases and delays handled in one turn: a burst of them may not hold up other queues for long.
constexpr std::size_t kDueMax = 4'096;
// More of these, since nothing is handed out until all that expired are gone.
constexpr std::size_t kExpiredMax = 32'768;

}  // namespace

Engine::Engine(const EngineOptions& options, Records& records, Effects& effects)
    : effects_(effects),
      queues_(options.policy, options.queues_max, options.auto_create, records),
      topics_(options.bindings_max),
      dispatcher_(leases_, records, effects),
      messages_(dispatcher_, records),
      dead_letters_(messages_, queues_, records),
      attempts_(leases_, messages_, dead_letters_, options.seed),
      consumers_(options.credit, options.consumers_max, queues_, leases_, attempts_, dispatcher_, topics_, records,
                 effects),
      settler_(options.credit, leases_, attempts_, dispatcher_, effects),
      publisher_(options.window, options.message_bytes_max, queues_, messages_, dead_letters_, topics_, records,
                 effects),
      removal_(queues_, messages_, dispatcher_, topics_, publisher_, consumers_),
      admin_(queues_, messages_, dead_letters_, removal_, dispatcher_, topics_, records),
      producers_(records) {}

Engine::~Engine() {
  for (const auto& [name, queue] : queues_.by_name()) {
    for (Message* message = queue->first; message != nullptr;) {
      Message* const next = message->queue_next;
      Message::free(message);
      message = next;
    }
  }
}

std::uint64_t Engine::open_session(SessionId session, std::string_view producer) {
  auto peer = std::make_unique<Peer>();
  peer->session = session;
  peer->producer_name = producer;
  peer->producer = producer.empty() ? &peer->own_producer : &producers_.open(producer);
  const std::uint64_t known = peer->producer->last_sequence();
  SLUICE_CHECK(peers_.emplace(raw(session), std::move(peer)).second);
  return known;
}

void Engine::close_session(SessionId session, const Now& now) {
  Peer& closing = peer(session);
  publisher_.forget(closing);
  std::erase_if(parked_, [&](const Parked& parked) { return parked.session == session; });
  for (Queue* orphan : consumers_.lose(closing, now)) removal_.remove(*orphan);
  if (!closing.producer_name.empty()) producers_.close(closing.producer_name);
  peers_.erase(raw(session));
}

void Engine::apply(SessionId session, const wire::Publish& frame, const Now& now) {
  publisher_.publish(peer(session), frame, now);
}

void Engine::apply(SessionId session, const wire::Consume& frame) {
  Peer& asking = peer(session);
  reply(asking, frame.request, consumers_.add(asking, frame).map([] { return wire::Map(); }));
}

void Engine::apply(SessionId session, const wire::Cancel& frame) {
  Peer& asking = peer(session);
  const Result<Queue*> orphan = consumers_.cancel(asking, frame.consumer);
  if (orphan && *orphan != nullptr) removal_.remove(**orphan);
  reply(asking, frame.request, orphan.map([](Queue*) { return wire::Map(); }));
}

void Engine::apply(SessionId session, const wire::Settle& frame, const Now& now) {
  settler_.settle(peer(session), frame, now);
}

void Engine::apply(SessionId session, const wire::Request& frame, const Now& now) { handle({session, frame}, now); }

void Engine::handle(const Parked& asked, const Now& now) {
  Result<wire::Map> result = admin_.handle(asked.request, now);
  if (admin_.lacked_bodies()) {
    parked_.push_back(asked);
  } else {
    reply(peer(asked.session), asked.request.request, std::move(result));
  }
}

void Engine::set_bodies(Bodies& bodies) {
  dispatcher_.set_bodies(bodies);
  admin_.set_bodies(bodies);
}

void Engine::bodies_arrived(const Now& now) {
  for (const Parked& parked : std::exchange(parked_, {})) handle(parked, now);
}

void Engine::refuse_publish(SessionId session, std::uint64_t first_sequence, std::uint64_t count,
                            const wire::ErrorBody& error) {
  publisher_.refuse(peer(session), first_sequence, count, error);
}

bool Engine::finish_turn(const Now& now) {
  const bool more_leases = leases_.expire(now, kDueMax, [&](Lease& lease) { consumers_.expire(lease, now); });
  const bool more_delays = messages_.wake(now, kDueMax);
  const bool more_expired =
      messages_.expire(now, kExpiredMax, [&](Message& message) { dead_letters_.expire(message, Cause::none, now); });
  publisher_.admit_blocked(now);
  consumers_.tell_losses();
  if (!deliveries_paused_ && !more_expired) dispatcher_.dispatch(now);
  publisher_.confirm();
  return more_leases || more_delays || more_expired;
}

std::optional<std::uint64_t> Engine::next_due_ms() {
  const std::optional<std::uint64_t> lease = leases_.next_ms();
  const std::optional<std::uint64_t> delay = messages_.next_ms();
  const std::optional<std::uint64_t> blocked = publisher_.next_ms();
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  const std::uint64_t first = std::min({lease.value_or(kNever), delay.value_or(kNever), blocked.value_or(kNever)});
  return first == kNever ? std::nullopt : std::optional<std::uint64_t>(first);
}

wire::Map Engine::totals() const {
  std::uint64_t ready = 0;
  std::uint64_t delayed = 0;
  std::uint64_t leased = 0;
  Counters counters = removal_.retired();
  for (const auto& [name, queue] : queues_.by_name()) {
    ready += queue->ready_count;
    delayed += queue->delayed_count;
    leased += queue->leased_count;
    counters.add(queue->counters);
  }
  counters.refused = publisher_.refused();
  wire::Map map;
  map.set("queues", static_cast<std::uint64_t>(queues_.size()))
      .set("consumers", consumers_.count())
      .set("bindings", static_cast<std::uint64_t>(topics_.size()))
      .set("ready", ready)
      .set("delayed", delayed)
      .set("leased", leased)
      .set("bytes", messages_.bytes())
      .set("bytes_on_disk_only", messages_.bytes_on_disk_only())
      .set("counters", counters.to_map().set("stale", settler_.stale()));
  return map;
}

Peer& Engine::peer(SessionId session) {
  const auto found = peers_.find(raw(session));
  SLUICE_CHECK(found != peers_.end());
  return *found->second;
}

void Engine::reply(const Peer& peer, std::uint64_t request, Result<wire::Map> result) {
  wire::Reply answer;
  answer.request = request;
  if (result) {
    answer.result = *std::move(result);
  } else {
    answer.error = wire::error_body(result.error());
  }
  effects_.reply(peer.session, answer);
}

}  // namespace sluice::engine
