#include "harness.h"

#include <doctest/doctest.h>

#include <utility>

namespace sluice::engine {

void Told::deliver(SessionId session, std::uint64_t consumer, LeaseId first, std::uint64_t told_lease_ms,
                   std::span<Message* const> messages) {
  lease_ms = told_lease_ms;
  std::uint64_t lease = raw(first);
  for (const Message* message : messages) {
    deliveries.push_back({raw(session), consumer, lease++, raw(message->id), message->deliveries, now_.steady_ms,
                          std::string(message->payload())});
  }
}

void Harness::open(std::uint64_t session, std::string_view producer) {
  if (sequences_.contains(session)) return;
  sequences_[session] = engine.open_session(SessionId{session}, producer);
}

void Harness::publish(std::uint64_t session, std::string_view queue, const std::vector<std::string>& payloads,
                      std::uint64_t priority, std::uint64_t delay_ms) {
  open(session);
  wire::Publish frame;
  frame.queue = queue;
  frame.first_sequence = sequences_[session] + 1;
  for (const std::string& payload : payloads)
    frame.messages.push_back({payload, {}, delay_ms, static_cast<std::uint8_t>(priority)});
  sequences_[session] += payloads.size();
  engine.apply(SessionId{session}, frame, now);
  turn();
}

void Harness::publish_one(std::uint64_t session, std::string_view queue, const wire::PublishMessage& message,
                          wire::PublishKind kind) {
  open(session);
  wire::Publish frame;
  frame.queue = queue;
  frame.first_sequence = ++sequences_[session];
  frame.messages = {message};
  frame.kind = kind;
  engine.apply(SessionId{session}, frame, now);
  turn();
}

void Harness::publish_from(std::uint64_t session, std::string_view queue, std::uint64_t first_sequence,
                           const std::vector<std::string>& payloads) {
  open(session);
  wire::Publish frame;
  frame.queue = queue;
  frame.first_sequence = first_sequence;
  for (const std::string& payload : payloads) frame.messages.push_back({payload, {}, 0, 4});
  engine.apply(SessionId{session}, frame, now);
  turn();
}

void Harness::consume(std::uint64_t session, std::uint64_t consumer, std::string_view queue, std::uint64_t messages,
                      std::uint64_t bytes) {
  open(session);
  engine.apply(SessionId{session}, wire::Consume{++request_, consumer, queue, messages, bytes});
  turn();
}

void Harness::settle(std::uint64_t session, wire::Verb verb, std::uint64_t first, std::uint64_t last,
                     std::string_view reason, std::optional<std::uint64_t> delay_ms) {
  wire::Settle frame;
  frame.settlements.push_back({verb, first, last, reason, delay_ms, {}});
  engine.apply(SessionId{session}, frame, now);
  turn();
}

void Harness::extend(std::uint64_t session, std::uint64_t lease, std::uint64_t lease_ms) {
  wire::Settle frame;
  frame.settlements.push_back({wire::Verb::extend, lease, lease, {}, {}, lease_ms});
  engine.apply(SessionId{session}, frame, now);
  turn();
}

void Harness::grant(std::uint64_t session, std::uint64_t consumer, std::uint64_t messages, std::uint64_t bytes) {
  wire::Settle frame;
  frame.grants.push_back({consumer, messages, bytes});
  engine.apply(SessionId{session}, frame, now);
  turn();
}

void Harness::close(std::uint64_t session) {
  engine.close_session(SessionId{session}, now);
  sequences_.erase(session);
  turn();
}

wire::Reply Harness::request(std::string_view verb, wire::Map arguments) {
  open(99);
  wire::Request frame;
  frame.request = ++request_;
  frame.verb = verb;
  frame.arguments = std::move(arguments);
  const std::size_t before = told.replies[99].size();
  engine.apply(SessionId{99}, frame, now);
  turn();
  REQUIRE(told.replies[99].size() == before + 1);
  CHECK(told.replies[99].back().request == frame.request);
  return told.replies[99].back();
}

wire::Map Harness::ask(std::string_view verb, wire::Map arguments) {
  const wire::Reply reply = request(verb, std::move(arguments));
  if (reply.error) FAIL(reply.error->name << ": " << reply.error->text);
  return *reply.result;
}

void Harness::declare(std::string_view queue, wire::Map policy) {
  ask("queue.declare", wire::Map().set("name", queue).set("policy", std::move(policy)));
}

std::uint64_t Harness::count(std::string_view queue, std::string_view what) {
  return *ask("queue.info", wire::Map().set("name", queue)).find(what)->get_if<std::uint64_t>();
}

std::uint64_t Harness::counter(std::string_view queue, std::string_view what) {
  const wire::Map info = ask("queue.info", wire::Map().set("name", queue));
  return *info.find("counters")->get_if<wire::Map>()->find(what)->get_if<std::uint64_t>();
}

void Harness::turn() {
  while (engine.finish_turn(now)) {
  }
}

void Harness::pass(std::uint64_t ms) {
  for (std::uint64_t i = 0; i < ms; ++i) {
    ++now.steady_ms;
    ++now.wall_ms;
    turn();
  }
}

std::vector<Seen> Harness::take() { return std::exchange(told.deliveries, {}); }

std::vector<std::string> Harness::take_payloads() {
  std::vector<std::string> payloads;
  for (const Seen& seen : take()) payloads.push_back(seen.payload);
  return payloads;
}

}  // namespace sluice::engine
