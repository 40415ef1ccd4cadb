#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

TEST_CASE("consume: deliveries never exceed the credit in messages, and nothing but a grant gives credit back") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3", "4", "5"});
  h.consume(2, 1, "jobs", 2);
  CHECK(h.take_payloads() == std::vector<std::string>{"1", "2"});
  h.settle(2, wire::Verb::ack, 1, 2);
  CHECK(h.take().empty());
  h.grant(2, 1, 1);
  CHECK(h.take_payloads() == std::vector<std::string>{"3"});
}

TEST_CASE("consume: byte credit is used by payload and may end below zero by one delivery") {
  Harness h;
  h.publish(1, "jobs", {std::string(60, 'a'), std::string(60, 'b'), "c"});
  h.consume(2, 1, "jobs", 10, 100);
  CHECK(h.take().size() == 2);  // 100 - 60 = 40 > 0, then -20
  h.grant(2, 1, 0, 20);         // 0: not above 0
  CHECK(h.take().empty());
  h.grant(2, 1, 0, 1);
  CHECK(h.take_payloads() == std::vector<std::string>{"c"});
}

TEST_CASE("C27 consume: credit beyond the limit is refused and names the field; the consumer does not exist") {
  Harness h;
  h.publish(1, "jobs", {"1"});
  for (const std::uint64_t credit :
       {std::uint64_t{65'536}, std::uint64_t{1} << 31, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    h.consume(2, 1, "jobs", credit);
    const wire::Reply& reply = h.told.replies[2].back();
    REQUIRE(reply.error.has_value());
    CHECK(reply.error->name == "bad_credit");
    CHECK(reply.error->text.find("credit_messages") != std::string::npos);
  }
  h.consume(2, 1, "jobs", 1, (1ULL << 30) + 1);
  CHECK(h.told.replies[2].back().error->text.find("credit_bytes") != std::string::npos);
  CHECK(h.take().empty());
  h.consume(2, 1, "jobs", 65'535);
  CHECK_FALSE(h.told.replies[2].back().error.has_value());
  CHECK(h.take().size() == 1);
}

TEST_CASE("C27 consume: a grant that would pass the limit is refused whole, without wrapping") {
  Harness h;
  h.consume(2, 1, "jobs", 65'535);
  for (const std::uint64_t messages : {std::uint64_t{1}, std::uint64_t{1} << 63, ~std::uint64_t{0}})
    h.grant(2, 1, messages);
  h.grant(2, 1, 0, ~std::uint64_t{0});
  CHECK(h.told.errors[2].size() == 4);
  for (const auto& error : h.told.errors[2]) CHECK(error.error.name == "bad_credit");
  h.grant(2, 5, 1);
  CHECK(h.told.errors[2].back().error.name == "unknown_consumer");
}

TEST_CASE("consume: credit 0 means no deliveries until a grant") {
  Harness h;
  h.publish(1, "jobs", {"1"});
  h.consume(2, 1, "jobs", 0, 0);
  CHECK(h.take().empty());
  h.grant(2, 1, 1, 1);
  CHECK(h.take().size() == 1);
}

TEST_CASE("consume: a number is used once in a session, and is free again after cancel") {
  Harness h;
  h.consume(2, 1, "jobs", 1);
  h.consume(2, 1, "other", 1);
  CHECK(h.told.replies[2].back().error->name == "consumer_exists");
  h.engine.apply(SessionId{2}, wire::Cancel{50, 1});
  h.turn();
  CHECK(h.told.replies[2].back().result.has_value());
  h.consume(2, 1, "other", 1);
  CHECK(h.told.replies[2].back().result.has_value());
  h.engine.apply(SessionId{2}, wire::Cancel{51, 7});
  h.turn();
  CHECK(h.told.replies[2].back().error->name == "unknown_consumer");
}

TEST_CASE("consume: after cancel nothing is delivered, and what is held can still be settled") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3"});
  h.consume(2, 1, "jobs", 2);
  h.engine.apply(SessionId{2}, wire::Cancel{50, 1});
  h.turn();
  h.take();
  h.grant(2, 1, 5, 5);
  CHECK(h.take().empty());
  h.settle(2, wire::Verb::ack, 1, 1);
  CHECK(h.counter("jobs", "acked") == 1);
  CHECK(h.told.settles[2].empty());
  h.close(2);
  CHECK(h.counter("jobs", "returned_by_disconnect") == 1);
  CHECK(h.count("jobs", "ready") == 2);
}

TEST_CASE("consume: a session has a limited number of consumers") {
  EngineOptions options;
  options.consumers_max = 2;
  Harness h(options);
  h.consume(2, 1, "jobs", 1);
  h.consume(2, 2, "jobs", 1);
  h.consume(2, 3, "jobs", 1);
  CHECK(h.told.replies[2].back().error->name == "consumer_limit");
}

TEST_CASE("consume: what a lost session held returns at once, to its old place, and counts as a disconnect") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3", "4"});
  h.consume(2, 1, "jobs", 3);
  h.take();
  h.close(2);
  CHECK(h.count("jobs", "ready") == 4);
  CHECK(h.counter("jobs", "returned_by_disconnect") == 3);
  h.consume(3, 1, "jobs", 10);
  for (const char* payload : {"1", "2", "3"}) {  // suspects: one at a time
    const auto seen = h.take();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].payload == payload);
    CHECK(seen[0].count == 2);
    h.settle(3, wire::Verb::ack, seen[0].lease, seen[0].lease);
  }
  const auto seen = h.take();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].payload == "4");
  CHECK(seen[0].count == 1);
}

TEST_CASE("C01 consume: a message whose every holder dies ends as a dead letter, and the next one is delivered") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 3));
  h.publish(1, "jobs", {"poison", "healthy"});
  for (std::uint64_t death = 1; death <= 3; ++death) {
    h.consume(10 + death, 1, "jobs", 1);
    const auto seen = h.take();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].payload == "poison");
    CHECK(seen[0].count == death);
    h.close(10 + death);
    h.pass(5'000);
  }
  CHECK(h.count("jobs", "dead") == 1);
  h.consume(20, 1, "jobs", 1);
  CHECK(h.take_payloads() == std::vector<std::string>{"healthy"});
}

}  // namespace
}  // namespace sluice::engine
