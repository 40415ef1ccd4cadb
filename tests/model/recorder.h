#pragma once
// model/recorder.h: what the engine told in a turn, as Told, and which messages entered queues.
//
// Threads  one.

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/dead_letters.h"
#include "engine/effects.h"
#include "engine/records.h"
#include "told.h"

namespace sluice::model {

// The engine and the model, or an invariant, disagree.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One message that a publish put into a queue, or that came back to it.
struct Entered {
  std::uint64_t id = 0;
  std::uint64_t position = 0;
  std::uint64_t due_ms = 0;           // steady; 0: at once
  std::uint64_t dedup_window_ms = 0;  // of the queue
  bool published = false;
  std::string queue;
  std::string payload;
};

class Recorder final : public engine::Effects, public engine::Records {
 public:
  void confirm(SessionId session, const wire::Confirm& confirm) override;
  void deliver(SessionId session, std::uint64_t consumer, LeaseId first, std::uint64_t lease_ms,
               std::span<engine::Message* const> messages) override;
  void lease_lost(SessionId session, const wire::LeaseLost& lost) override;
  void consumer_closed(SessionId session, const wire::ConsumerClosed& closed) override;
  void settled(SessionId session, const wire::Settled& settled) override;
  void reply(SessionId session, const wire::Reply& reply) override;
  void error(SessionId session, const wire::ErrorFrame& error) override;

  bool keeps() const override { return false; }
  void queue_created(engine::Queue&) override {}
  void queue_changed(engine::Queue&) override {}
  void queue_deleted(const engine::Queue&) override {}
  void bound(const engine::Queue&, std::string_view) override {}
  void unbound(const engine::Queue&, std::string_view) override {}
  void published(std::span<engine::Message* const> copies, const engine::Publication&, const engine::Now&) override {
    for (const engine::Message* message : copies) enter(*message, true);
  }
  void delivered(const engine::Message&, LeaseId) override {}
  void returned(const engine::Message& message, engine::Cause, const engine::Now&) override { enter(message, false); }
  void ended(const engine::Message&, engine::Ended) override {}
  void dead_lettered(const engine::Message&, engine::Cause) override {}
  void replayed(const engine::Message&) override {}
  void producer_opened(std::uint64_t, std::string_view) override {}
  void accepted(std::uint64_t, std::uint64_t, MessageId) override {}
  void refused(std::uint64_t, std::uint64_t, const wire::ErrorBody&) override {}
  void producer_forgotten(std::uint64_t) override {}

  Told told;
  std::vector<Entered> entered;

 private:
  void enter(const engine::Message& message, bool published);
};

}  // namespace sluice::model
