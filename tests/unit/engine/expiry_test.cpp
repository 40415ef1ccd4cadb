#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

wire::PublishMessage with_ttl(std::string_view payload, std::uint64_t ttl_ms, std::uint64_t delay_ms = 0) {
  wire::PublishMessage message;
  message.payload = payload;
  message.ttl_ms = ttl_ms;
  message.delay_ms = delay_ms;
  return message;
}

std::string reason_of_first(Harness& h, std::string_view queue) {
  const wire::Map peeked = h.ask("queue.peek", wire::Map().set("name", queue));
  const wire::Map& message = *peeked.find("messages")->get_if<wire::Array>()->at(0).get_if<wire::Map>();
  return *message.find("dead")->get_if<wire::Map>()->find("reason")->get_if<std::string>();
}

TEST_CASE("expiry: takes effect anywhere in the queue, with no consumer there, at its time and not before") {
  Harness h;
  h.publish(1, "jobs", {"first"});
  h.publish_one(1, "jobs", with_ttl("short", 300));
  h.publish(1, "jobs", {"last"});
  h.pass(299);
  CHECK(h.count("jobs", "ready") == 3);
  h.pass(1);
  CHECK(h.count("jobs", "ready") == 2);
  CHECK(h.count("jobs", "dead") == 1);
  CHECK(reason_of_first(h, "jobs.dlq") == "expired");
}

TEST_CASE("expiry: the policy may drop instead, counted") {
  Harness h;
  h.declare("jobs", wire::Map().set("on_expiry", "drop").set("ttl_ms", 100));
  h.publish(1, "jobs", {"a", "b"});
  h.pass(100);
  CHECK(h.count("jobs", "ready") == 0);
  CHECK(h.count("jobs", "dead") == 0);
  CHECK(h.counter("jobs", "expired") == 2);
}

TEST_CASE("expiry: a message's own time to live goes before the queue's") {
  Harness h;
  h.declare("jobs", wire::Map().set("ttl_ms", 100));
  h.publish_one(1, "jobs", with_ttl("long", 500));
  h.publish(1, "jobs", {"short"});
  h.pass(100);
  CHECK(h.count("jobs", "ready") == 1);
  h.pass(400);
  CHECK(h.count("jobs", "ready") == 0);
}

TEST_CASE("C24 expiry: never while leased; an ack is fine, and what comes back too late is not delivered again") {
  Harness h;
  h.declare("jobs", wire::Map().set("lease_ms", 1'000));
  for (const char* payload : {"acked", "nacked", "released", "held", "lost"})
    h.publish_one(1, "jobs", with_ttl(payload, 300));
  h.consume(2, 1, "jobs", 10);
  REQUIRE(h.take().size() == 5);
  h.pass(600);
  CHECK(h.count("jobs", "leased") == 5);
  h.settle(2, wire::Verb::ack, 1, 1);
  h.settle(2, wire::Verb::nack, 2, 2, "no", 0);
  h.settle(2, wire::Verb::release, 3, 3);
  CHECK(h.counter("jobs", "acked") == 1);
  CHECK(h.count("jobs", "dead") == 2);
  h.pass(400);  // the leases of the last two end
  CHECK(h.count("jobs", "dead") == 4);
  CHECK(h.take().empty());
  CHECK(h.count("jobs", "ready") + h.count("jobs", "delayed") == 0);
}

TEST_CASE("C24 expiry: a dead letter has no time to live, and neither has it after a replay") {
  Harness h;
  h.publish_one(1, "jobs", with_ttl("m", 300));
  h.pass(300);
  h.pass(2'000);
  CHECK(h.count("jobs.dlq", "ready") == 1);
  h.ask("dlq.replay", wire::Map().set("name", "jobs.dlq"));
  h.pass(2'000);
  CHECK(h.count("jobs", "ready") == 1);
}

TEST_CASE("expiry: a message that came back in time still expires at its time") {
  Harness h;
  h.publish_one(1, "jobs", with_ttl("m", 300));
  h.consume(2, 1, "jobs", 1);
  h.pass(100);
  h.settle(2, wire::Verb::release, 1, 1);
  h.pass(199);
  CHECK(h.count("jobs", "ready") == 1);
  h.pass(1);
  CHECK(h.count("jobs", "ready") == 0);
}

TEST_CASE("expiry: a delayed message whose time to live ends first is never delivered") {
  Harness h;
  h.publish_one(1, "jobs", with_ttl("m", 100, 200));
  h.consume(2, 1, "jobs", 1);
  h.pass(500);
  CHECK(h.take().empty());
  CHECK(h.count("jobs", "dead") == 1);
}

TEST_CASE("expiry: in a dead-letter queue with a time to live the messages are dropped, counted") {
  Harness h;
  h.declare("jobs.dlq", wire::Map().set("ttl_ms", 100));
  h.publish(1, "jobs.dlq", {"m"});
  h.pass(100);
  CHECK(h.counter("jobs.dlq", "expired") == 1);
}

TEST_CASE("expiry: of many at once a turn takes a bounded number, and none is handed out meanwhile") {
  Harness h;
  h.declare("jobs", wire::Map().set("ttl_ms", 100).set("on_expiry", "drop"));
  h.publish(1, "jobs", std::vector<std::string>(50'000, "x"));
  h.now.steady_ms += 150;
  h.open(2);
  h.engine.apply(SessionId{2}, wire::Consume{1, 1, "jobs", 60'000, 1 << 20});
  std::size_t turns = 1;
  while (h.engine.finish_turn(h.now)) ++turns;
  CHECK(turns > 1);
  CHECK(h.take().empty());
  CHECK(h.counter("jobs", "expired") == 50'000);
}

}  // namespace
}  // namespace sluice::engine
