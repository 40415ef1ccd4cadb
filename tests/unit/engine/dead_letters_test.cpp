#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

// `count` dead letters in jobs.dlq, payloads from `first` on, rejected.
void bury(Harness& h, std::uint64_t first, std::uint64_t count) {
  std::vector<std::string> payloads;
  for (std::uint64_t i = 0; i < count; ++i) payloads.push_back(std::to_string(first + i));
  h.publish(1, "jobs", payloads);
  h.consume(2, first, "jobs", count);
  const auto seen = h.take();
  REQUIRE(seen.size() == count);
  h.settle(2, wire::Verb::reject, seen.front().lease, seen.back().lease, "unreadable");
}

wire::Array peek(Harness& h, std::string_view queue) {
  return *h.ask("queue.peek", wire::Map().set("name", queue).set("limit", 1'000))
              .find("messages")
              ->get_if<wire::Array>();
}

std::string text(const wire::Value& message, std::string_view key) {
  return *message.get_if<wire::Map>()->find("dead")->get_if<wire::Map>()->find(key)->get_if<std::string>();
}

std::string payload(const wire::Value& message) {
  return message.get_if<wire::Map>()->find("payload")->get_if<wire::Bin>()->bytes;
}

TEST_CASE("dead letters: keep origin, reason, error text, counters and times, and the message's id") {
  Harness h;
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 2);
  const std::uint64_t id = h.take().at(0).id;
  h.settle(2, wire::Verb::nack, 1, 1, "first", 0);
  h.pass(5);
  h.settle(2, wire::Verb::reject, 2, 2, "second");
  const wire::Array dead = peek(h, "jobs.dlq");
  REQUIRE(dead.size() == 1);
  const wire::Map& message = *dead[0].get_if<wire::Map>();
  CHECK(*message.find("id")->get_if<std::uint64_t>() == id);
  CHECK(text(dead[0], "origin") == "jobs");
  CHECK(text(dead[0], "reason") == "rejected");
  CHECK(text(dead[0], "error") == "second");
  const wire::Map& facts = *message.find("dead")->get_if<wire::Map>();
  CHECK(*facts.find("deliveries")->get_if<std::uint64_t>() == 2);
  CHECK(*facts.find("nacks")->get_if<std::uint64_t>() == 1);
  CHECK(*facts.find("dead_at_ms")->get_if<std::uint64_t>() ==
        *facts.find("first_published_ms")->get_if<std::uint64_t>() + 5);
}

TEST_CASE("C22 dead letters: the bound is exact, the newest are kept, what is dropped is counted") {
  for (const std::uint64_t count : {std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{11}, std::uint64_t{500}}) {
    Harness h;
    h.declare("jobs", wire::Map().set("dead_letter_max", 10));
    bury(h, 1, count);
    const wire::Array dead = peek(h, "jobs.dlq");
    const std::uint64_t kept = std::min<std::uint64_t>(count, 10);
    REQUIRE(dead.size() == kept);
    CHECK(payload(dead.back()) == std::to_string(count));
    CHECK(payload(dead.front()) == std::to_string(count - kept + 1));
    CHECK(h.counter("jobs.dlq", "dropped") == count - kept);
  }
}

TEST_CASE("dead letters: a leased one is not dropped to make room") {
  Harness h;
  h.declare("jobs", wire::Map().set("dead_letter_max", 2));
  bury(h, 1, 2);
  h.consume(3, 1, "jobs.dlq", 1);
  CHECK(h.take_payloads() == std::vector<std::string>{"1"});
  bury(h, 3, 1);
  const wire::Array dead = peek(h, "jobs.dlq");
  REQUIRE(dead.size() == 2);
  CHECK(payload(dead[0]) == "1");
  CHECK(payload(dead[1]) == "3");
}

TEST_CASE(
    "dead letters: their queue never dead-letters again; a message waits there past any limit, also when rejected") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 1));
  h.declare("jobs.dlq", wire::Map().set("max_attempts", 2).set("backoff_initial_ms", 0));
  bury(h, 1, 1);
  h.consume(3, 1, "jobs.dlq", 100);
  for (int i = 0; i < 5; ++i)
    h.settle(3, i % 2 == 0 ? wire::Verb::nack : wire::Verb::reject, h.told.deliveries.back().lease,
             h.told.deliveries.back().lease);
  CHECK(h.count("jobs.dlq", "leased") == 1);
  CHECK(h.take().size() == 6);
  CHECK(h.request("queue.info", wire::Map().set("name", "jobs.dlq.dlq")).error->name == "unknown_queue");
}

TEST_CASE("replay: to the origin, with counters anew and the same id") {
  Harness h;
  bury(h, 1, 3);
  const wire::Map result = h.ask("dlq.replay", wire::Map().set("name", "jobs.dlq"));
  CHECK(*result.find("replayed")->get_if<std::uint64_t>() == 3);
  CHECK(h.count("jobs.dlq", "ready") == 0);
  CHECK(h.counter("jobs.dlq", "replayed_out") == 3);
  h.consume(3, 1, "jobs", 10);
  const auto seen = h.take();
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].payload == "1");
  CHECK(seen[0].id == 1);
  CHECK(seen[0].count == 1);
  CHECK(peek(h, "jobs")[0].get_if<wire::Map>()->find("dead") == nullptr);
}

TEST_CASE("replay: by id, by reason, with a limit, to another queue, and as a dry run that changes nothing") {
  Harness h;
  bury(h, 1, 4);
  const auto replay = [&](wire::Map arguments) {
    return *h.ask("dlq.replay", arguments.set("name", "jobs.dlq")).find("replayed")->get_if<std::uint64_t>();
  };
  CHECK(replay(wire::Map().set("dry_run", true)) == 4);
  CHECK(h.count("jobs.dlq", "ready") == 4);
  CHECK(replay(wire::Map().set("reason", "attempts")) == 0);
  CHECK(replay(wire::Map().set("ids", wire::Array{wire::Value(3), wire::Value(77)}).set("to", "other")) == 1);
  CHECK(payload(peek(h, "other")[0]) == "3");
  CHECK(replay(wire::Map().set("limit", 2).set("reason", "rejected")) == 2);
  CHECK(h.count("jobs.dlq", "ready") == 1);
}

TEST_CASE("replay: what its target cannot take stays where it is, and is told") {
  Harness h;
  bury(h, 1, 3);
  h.declare("small", wire::Map().set("max_messages", 1));
  const wire::Map result = h.ask("dlq.replay", wire::Map().set("name", "jobs.dlq").set("to", "small"));
  CHECK(*result.find("replayed")->get_if<std::uint64_t>() == 1);
  CHECK(*result.find("refused")->get_if<std::uint64_t>() == 2);
  CHECK(h.count("jobs.dlq", "ready") == 2);
}

TEST_CASE("replay: a dry run counts the queues that it would make against the limit of queues") {
  EngineOptions options;
  options.queues_max = 5;
  Harness h(options);
  h.consume(2, 1, "a", 10);
  h.consume(2, 2, "b", 10);
  h.publish(1, "a", {"1"});
  h.publish(1, "b", {"2"});
  h.settle(2, wire::Verb::reject, 1, 2);
  // Two origins in one place, and neither is there any more.
  h.ask("dlq.replay", wire::Map().set("name", "a.dlq").set("to", "b.dlq"));
  for (const char* const name : {"a", "b"}) h.ask("queue.delete", wire::Map().set("name", name));
  for (const char* const name : {"c", "d"}) h.declare(name, {});
  for (const bool dry_run : {true, false}) {
    const wire::Map result = h.ask("dlq.replay", wire::Map().set("name", "b.dlq").set("dry_run", dry_run));
    CHECK(*result.find("replayed")->get_if<std::uint64_t>() == 1);
    CHECK(*result.find("refused")->get_if<std::uint64_t>() == 1);
  }
}

TEST_CASE("replay: refuses a queue that is none of dead letters, an unknown one, and itself as target") {
  Harness h;
  bury(h, 1, 1);
  CHECK(h.request("dlq.replay", wire::Map().set("name", "jobs")).error->name == "not_a_dead_letter_queue");
  CHECK(h.request("dlq.replay", wire::Map().set("name", "x.dlq")).error->name == "unknown_queue");
  CHECK(h.request("dlq.replay", wire::Map().set("name", "jobs.dlq").set("to", "jobs.dlq")).error->name == "bad_field");
  CHECK(h.request("dlq.replay", wire::Map().set("name", "jobs.dlq").set("to", "a/b")).error->name == "bad_queue_name");
}

TEST_CASE("replay: a message that fails again is a dead letter again, with the new reason") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 1));
  bury(h, 1, 1);
  h.ask("dlq.replay", wire::Map().set("name", "jobs.dlq"));
  h.consume(3, 1, "jobs", 1);
  h.settle(3, wire::Verb::nack, h.take().at(0).lease, 2, "again");
  const wire::Array dead = peek(h, "jobs.dlq");
  REQUIRE(dead.size() == 1);
  CHECK(text(dead[0], "reason") == "attempts");
  CHECK(text(dead[0], "error") == "again");
}

TEST_CASE("conservation: after any of these, what entered a queue is in it or has left it by a counted way") {
  Harness h;
  h.declare("jobs", wire::Map().set("dead_letter_max", 2).set("max_attempts", 1));
  bury(h, 1, 5);
  h.publish(1, "jobs", {"a", "b", "c"});
  h.consume(3, 1, "jobs", 2);
  h.settle(3, wire::Verb::ack, h.take().at(0).lease, 6);
  h.ask("dlq.replay", wire::Map().set("name", "jobs.dlq").set("limit", 1));
  h.ask("queue.purge", wire::Map().set("name", "jobs"));
  for (const char* queue : {"jobs", "jobs.dlq"}) {
    std::uint64_t left = 0;
    for (const char* way : {"acked", "dead_lettered", "dropped", "expired", "purged", "replayed_out"})
      left += h.counter(queue, way);
    CHECK(h.counter(queue, "enqueued") ==
          left + h.count(queue, "ready") + h.count(queue, "delayed") + h.count(queue, "leased"));
  }
}

}  // namespace
}  // namespace sluice::engine
