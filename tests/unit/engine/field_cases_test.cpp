// Failures that other brokers had in the field, and that no other test here is about. The list of all is tests/cases.md.

#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

TEST_CASE("C10 clock: leases, delays, backoff and times to live run on, whichever way the wall clock is set") {
  constexpr std::uint64_t kHourMs = 3'600'000;
  for (const bool forward : {true, false}) {
    Harness h;
    h.declare("jobs", wire::Map().set("lease_ms", 5'000).set("backoff_initial_ms", 5'000).set("backoff_jitter", 0.0));
    h.publish(1, "jobs", {"leased", "failed"});
    h.consume(2, 1, "jobs", 2);
    h.settle(2, wire::Verb::nack, 2, 2, "no");
    h.publish(1, "delayed", {"m"}, 4, 5'000);
    wire::PublishMessage mortal;
    mortal.payload = "m";
    mortal.ttl_ms = 5'000;
    h.publish_one(1, "mortal", mortal);
    h.now.wall_ms = forward ? h.now.wall_ms + kHourMs : h.now.wall_ms - kHourMs;
    h.pass(4'999);
    CHECK(h.count("jobs", "leased") == 1);
    CHECK(h.count("jobs", "delayed") == 1);
    CHECK(h.count("delayed", "delayed") == 1);
    CHECK(h.count("mortal", "ready") == 1);
    CHECK(h.count("mortal", "oldest_age_ms") <= kHourMs + 5'000);  // never negative, never huge
    h.pass(1);
    CHECK(h.count("jobs", "leased") == 0);
    CHECK(h.count("jobs", "ready") == 1);    // its backoff is over
    CHECK(h.count("jobs", "delayed") == 1);  // its lease ended: it waits now
    CHECK(h.count("delayed", "ready") == 1);
    CHECK(h.count("mortal", "ready") == 0);
  }
}

TEST_CASE("C20 dead letters: keep the order in which they died and what they were, and a replay moves no total") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3", "4"});
  h.consume(2, 1, "jobs", 4);
  for (std::uint64_t lease = 1; lease <= 4; ++lease) h.settle(2, wire::Verb::reject, lease, lease, "why");
  h.ask("dlq.replay", wire::Map().set("name", "jobs.dlq").set("limit", 1));
  CHECK(h.counter("jobs", "dead_lettered") == 4);
  h.consume(3, 1, "jobs.dlq", 4);
  CHECK(h.take_payloads() == std::vector<std::string>{"1", "2", "3", "4", "2", "3", "4"});
}

TEST_CASE("C25 dead letters: of a batch in its last delivery the acked one is never among them, the others are") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 3).set("lease_ms", 100).set("backoff_initial_ms", 0));
  h.publish(1, "jobs", {"kept", "a", "b"});
  h.consume(2, 1, "jobs", 9);
  h.pass(100);
  h.pass(100);
  h.pass(99);
  const auto seen = h.take();
  REQUIRE(seen.size() == 9);
  CHECK(seen[6].payload == "kept");
  CHECK(seen[6].count == 3);
  h.settle(2, wire::Verb::ack, seen[6].lease, seen[6].lease);  // 1 ms before its lease ends
  h.pass(1);
  CHECK(h.count("jobs", "dead") == 2);
  CHECK(h.counter("jobs", "acked") == 1);
  CHECK(h.count("jobs", "ready") + h.count("jobs", "delayed") + h.count("jobs", "leased") == 0);
}

}  // namespace
}  // namespace sluice::engine
