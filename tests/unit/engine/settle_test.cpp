#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

constexpr auto kStale = static_cast<std::uint64_t>(ErrorCode::stale);

TEST_CASE("settle: an ack ends the message, a repeated one is stale and harmless") {
  Harness h;
  h.publish(1, "jobs", {"1", "2"});
  h.consume(2, 1, "jobs", 2);
  h.settle(2, wire::Verb::ack, 1, 2);
  CHECK(h.told.settles[2].empty());
  h.settle(2, wire::Verb::ack, 1, 2);
  REQUIRE(h.told.settles[2].size() == 1);
  const wire::Settled& answer = h.told.settles[2][0];
  CHECK_FALSE(answer.request.has_value());
  REQUIRE(answer.exceptions.size() == 1);
  CHECK(answer.exceptions[0].first_lease == 1);
  CHECK(answer.exceptions[0].last_lease == 2);
  CHECK(answer.exceptions[0].code == kStale);
  CHECK(h.counter("jobs", "acked") == 2);
}

TEST_CASE("settle: a request is always answered, exactly once") {
  Harness h;
  h.publish(1, "jobs", {"1"});
  h.consume(2, 1, "jobs", 2);
  wire::Settle frame;
  frame.request = 77;
  frame.settlements.push_back({wire::Verb::ack, 1, 1, {}, {}, {}});
  h.engine.apply(SessionId{2}, frame, h.now);
  h.turn();
  REQUIRE(h.told.settles[2].size() == 1);
  CHECK(h.told.settles[2][0].request == 77U);
  CHECK(h.told.settles[2][0].exceptions.empty());
}

TEST_CASE("C02 settle: a former holder changes nothing, whatever it sends, also when it holds the message again") {
  for (const std::uint64_t second : {std::uint64_t{2}, std::uint64_t{3}}) {
    for (const wire::Verb verb :
         {wire::Verb::ack, wire::Verb::nack, wire::Verb::release, wire::Verb::reject, wire::Verb::extend}) {
      Harness h;
      h.declare("jobs", wire::Map().set("lease_ms", 100).set("backoff_initial_ms", 0));
      h.publish(1, "jobs", {"m"});
      h.consume(2, 1, "jobs", 1);
      CHECK(h.take().size() == 1);
      if (second == 2) h.grant(2, 1, 1);
      if (second == 3) h.consume(3, 1, "jobs", 1);
      h.pass(100);
      const auto again = h.take();
      REQUIRE(again.size() == 1);
      CHECK(again[0].session == second);
      CHECK(again[0].count == 2);
      h.settle(2, verb, 1, 1, "late failure", 60'000);
      REQUIRE(h.told.settles[2].size() == 1);
      CHECK(h.told.settles[2][0].exceptions.at(0).code == kStale);
      CHECK(h.count("jobs", "leased") == 1);
      h.settle(second, wire::Verb::ack, again[0].lease, again[0].lease);
      CHECK(h.counter("jobs", "acked") == 1);
      CHECK(h.counter("jobs", "nacked") == 0);
      CHECK(h.count("jobs", "leased") == 0);
    }
  }
}

TEST_CASE("settle: another session's lease is stale") {
  Harness h;
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 1);
  h.open(3);
  h.settle(3, wire::Verb::ack, 1, 1);
  CHECK(h.told.settles[3].at(0).exceptions.at(0).code == kStale);
  CHECK(h.count("jobs", "leased") == 1);
}

TEST_CASE("settle: in a range each lease is judged on its own, and the exceptions come as runs") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3", "4", "5"});
  h.consume(2, 1, "jobs", 5);
  h.settle(2, wire::Verb::ack, 2, 2);
  h.settle(2, wire::Verb::ack, 1, 7);
  const auto& exceptions = h.told.settles[2].at(0).exceptions;
  REQUIRE(exceptions.size() == 2);
  CHECK(exceptions[0].first_lease == 2);
  CHECK(exceptions[0].last_lease == 2);
  CHECK(exceptions[1].first_lease == 6);
  CHECK(exceptions[1].last_lease == 7);
  CHECK(h.counter("jobs", "acked") == 5);
}

TEST_CASE("settle: the last lease number there can be does not run in a circle") {
  Harness h;
  h.open(2);
  h.settle(2, wire::Verb::ack, ~std::uint64_t{0} - 1, ~std::uint64_t{0});
  CHECK(h.told.settles[2].at(0).exceptions.at(0).last_lease == ~std::uint64_t{0});
}

TEST_CASE("settle: a lease that runs out is told to its holder, and gives no credit back") {
  Harness h;
  h.declare("jobs", wire::Map().set("lease_ms", 100).set("backoff_initial_ms", 0));
  h.publish(1, "jobs", {"1", "2"});
  h.consume(2, 1, "jobs", 2);
  CHECK(h.told.lease_ms == 100);
  h.pass(99);
  CHECK(h.told.lost[2].empty());
  h.pass(1);
  REQUIRE(h.told.lost[2].size() == 1);
  const wire::LeaseLost& lost = h.told.lost[2][0];
  CHECK(lost.consumer == 1);
  CHECK(lost.code == static_cast<std::uint64_t>(ErrorCode::lease_expired));
  REQUIRE(lost.ranges.size() == 1);
  CHECK(lost.ranges[0].first == 1);
  CHECK(lost.ranges[0].last == 2);
  h.take();
  h.pass(500);
  CHECK(h.take().empty());
  CHECK(h.counter("jobs", "expired_leases") == 2);
}

TEST_CASE("settle: an extended lease ends when it was told to, counted from the extension") {
  Harness h;
  h.declare("jobs", wire::Map().set("lease_ms", 100));
  h.publish(1, "jobs", {"1"});
  h.consume(2, 1, "jobs", 1);
  h.pass(90);
  h.extend(2, 1, 500);
  h.pass(499);
  CHECK(h.told.lost[2].empty());
  h.pass(1);
  CHECK(h.told.lost[2].size() == 1);
}

TEST_CASE("settle: no extension goes beyond 12 hours in total") {
  Harness h;
  h.publish(1, "jobs", {"1"});
  h.consume(2, 1, "jobs", 1);
  h.extend(2, 1, kLeaseTotalMsMax);
  CHECK(h.told.settles[2].empty());
  h.extend(2, 1, kLeaseTotalMsMax + 1);
  CHECK(h.told.settles[2].at(0).exceptions.at(0).code == static_cast<std::uint64_t>(ErrorCode::lease_cap));
  CHECK(h.count("jobs", "leased") == 1);
}

}  // namespace
}  // namespace sluice::engine
