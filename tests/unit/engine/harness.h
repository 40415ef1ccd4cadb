#pragma once
// tests/unit/engine/harness.h: an engine with a clock of the test's own, and everything it wanted told.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace sluice::engine {

// One delivery as a peer would see it.
struct Seen {
  std::uint64_t session = 0;
  std::uint64_t consumer = 0;
  std::uint64_t lease = 0;
  std::uint64_t id = 0;
  std::uint64_t count = 0;
  std::uint64_t at_ms = 0;
  std::string payload;
};

class Told final : public Effects {
 public:
  explicit Told(const Now& now) : now_(now) {}

  void confirm(SessionId session, const wire::Confirm& confirm) override { confirms[raw(session)].push_back(confirm); }
  void deliver(SessionId session, std::uint64_t consumer, LeaseId first, std::uint64_t lease_ms,
               std::span<Message* const> messages) override;
  void lease_lost(SessionId session, const wire::LeaseLost& told) override { lost[raw(session)].push_back(told); }
  void consumer_closed(SessionId session, const wire::ConsumerClosed& closed) override {
    consumers_closed[raw(session)].push_back(closed);
  }
  void settled(SessionId session, const wire::Settled& answer) override { settles[raw(session)].push_back(answer); }
  void reply(SessionId session, const wire::Reply& reply) override { replies[raw(session)].push_back(reply); }
  void error(SessionId session, const wire::ErrorFrame& error) override { errors[raw(session)].push_back(error); }

  std::map<std::uint64_t, std::vector<wire::Confirm>> confirms;
  std::vector<Seen> deliveries;
  std::map<std::uint64_t, std::vector<wire::LeaseLost>> lost;
  std::map<std::uint64_t, std::vector<wire::ConsumerClosed>> consumers_closed;
  std::map<std::uint64_t, std::vector<wire::Settled>> settles;
  std::map<std::uint64_t, std::vector<wire::Reply>> replies;
  std::map<std::uint64_t, std::vector<wire::ErrorFrame>> errors;
  std::uint64_t lease_ms = 0;  // of the last delivery

 private:
  const Now& now_;
};

// Sessions 1, 2, ... are opened as they are used. Every call is a turn of its own.
class Harness {
 public:
  explicit Harness(const EngineOptions& options = {}) : told(now), engine(options, records, told) {}

  void publish(std::uint64_t session, std::string_view queue, const std::vector<std::string>& payloads,
               std::uint64_t priority = 4, std::uint64_t delay_ms = 0);
  // One message with whatever options.
  void publish_one(std::uint64_t session, std::string_view queue, const wire::PublishMessage& message,
                   wire::PublishKind kind = wire::PublishKind::queue);
  void publish_from(std::uint64_t session, std::string_view queue, std::uint64_t first_sequence,
                    const std::vector<std::string>& payloads);
  void consume(std::uint64_t session, std::uint64_t consumer, std::string_view queue, std::uint64_t messages,
               std::uint64_t bytes = 1 << 20);
  void settle(std::uint64_t session, wire::Verb verb, std::uint64_t first, std::uint64_t last,
              std::string_view reason = {}, std::optional<std::uint64_t> delay_ms = {});
  void extend(std::uint64_t session, std::uint64_t lease, std::uint64_t lease_ms);
  void grant(std::uint64_t session, std::uint64_t consumer, std::uint64_t messages, std::uint64_t bytes = 0);
  void close(std::uint64_t session);
  // The reply to a request of session 99.
  wire::Reply request(std::string_view verb, wire::Map arguments);
  // Its result; the check fails on an error.
  wire::Map ask(std::string_view verb, wire::Map arguments);
  void declare(std::string_view queue, wire::Map policy);
  std::uint64_t count(std::string_view queue, std::string_view what);  // ready, delayed, leased, dead, ...
  std::uint64_t counter(std::string_view queue, std::string_view what);
  // Time goes by in steps of 1 ms, each a turn; until `ms` are over.
  void pass(std::uint64_t ms);
  void turn();
  void open(std::uint64_t session, std::string_view producer = {});
  // What was delivered since the last call.
  std::vector<Seen> take();
  std::vector<std::string> take_payloads();

  Now now{1'000'000, 1'700'000'000'000};
  NoRecords records;
  Told told;
  Engine engine;

 private:
  std::map<std::uint64_t, std::uint64_t> sequences_;  // open sessions
  std::uint64_t request_ = 0;
};

}  // namespace sluice::engine
