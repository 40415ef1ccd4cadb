#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

wire::Map exact_backoff() {
  return wire::Map()
      .set("backoff_initial_ms", 200)
      .set("backoff_jitter", 0.0)
      .set("lease_ms", 100)
      .set("max_attempts", 4);
}

TEST_CASE("C05 attempts: nack without a delay and lease end wait alike, each time twice as long") {
  for (const bool nack : {true, false}) {
    Harness h;
    h.declare("jobs", exact_backoff());
    h.publish(1, "jobs", {"m"});
    h.consume(2, 1, "jobs", 10);
    std::vector<std::uint64_t> failed_ms;
    std::vector<std::uint64_t> gaps;
    for (std::uint64_t attempt = 1; attempt <= 4; ++attempt) {
      while (h.told.deliveries.empty()) h.pass(1);
      const Seen seen = h.take().at(0);
      CHECK(seen.count == attempt);
      if (!failed_ms.empty()) gaps.push_back(seen.at_ms - failed_ms.back());
      if (nack) {
        h.settle(2, wire::Verb::nack, seen.lease, seen.lease, "no");
      } else {
        h.pass(100);
      }
      failed_ms.push_back(h.now.steady_ms);
    }
    CHECK(gaps == std::vector<std::uint64_t>{200, 400, 800});
    CHECK(h.count("jobs", "dead") == 1);
  }
}

TEST_CASE("C04 attempts: one silent lease leaves the other tries") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 5).set("lease_ms", 1'000));
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 1);
  h.pass(1'000);
  CHECK(h.count("jobs", "delayed") == 1);
  CHECK(h.count("jobs", "dead") == 0);
}

TEST_CASE("C04 attempts: the limit is judged when the attempt ends, with no consumer there") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 2).set("backoff_initial_ms", 0));
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 2);
  h.settle(2, wire::Verb::nack, 1, 1);
  h.settle(2, wire::Verb::nack, 2, 2, "second");
  h.close(2);
  CHECK(h.count("jobs", "dead") == 1);
  CHECK(h.count("jobs", "ready") + h.count("jobs", "delayed") + h.count("jobs", "leased") == 0);
}

TEST_CASE("C04 attempts: a limit of 1 is one delivery") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 1));
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 5);
  h.settle(2, wire::Verb::nack, 1, 1);
  CHECK(h.take().size() == 1);
  CHECK(h.count("jobs", "dead") == 1);
}

TEST_CASE("attempts: a nack may give its own delay, 0 included") {
  Harness h;
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 5);
  h.settle(2, wire::Verb::nack, 1, 1, "", 0);
  CHECK(h.take().size() == 2);
  h.settle(2, wire::Verb::nack, 2, 2, "", 250);
  h.pass(249);
  CHECK(h.take().empty());
  h.pass(1);
  CHECK(h.take().size() == 1);
}

TEST_CASE("attempts: release is free of charge, however often") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 1));
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 100);
  for (std::uint64_t lease = 1; lease <= 50; ++lease) h.settle(2, wire::Verb::release, lease, lease);
  CHECK(h.take().back().count == 51);
  CHECK(h.counter("jobs", "released") == 50);
  CHECK(h.count("jobs", "dead") == 0);
}

TEST_CASE("C11 attempts: what comes back has its old place") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3", "4", "5"});
  SUBCASE("one at a time, the first nacked once without delay") {
    h.consume(2, 1, "jobs", 1);
    h.settle(2, wire::Verb::nack, 1, 1, "", 0);
    for (std::uint64_t lease = 2; lease <= 6; ++lease) {
      h.grant(2, 1, 1, 10);
      h.settle(2, wire::Verb::ack, lease, lease);
    }
    CHECK(h.take_payloads() == std::vector<std::string>{"1", "1", "2", "3", "4", "5"});
  }
  SUBCASE("three held, then the holder is gone") {
    h.consume(2, 1, "jobs", 3);
    h.take();
    h.close(2);
    h.consume(3, 1, "jobs", 10);
    for (std::uint64_t lease = 4; lease <= 6; ++lease) h.settle(3, wire::Verb::ack, lease, lease);
    CHECK(h.take_payloads() == std::vector<std::string>{"1", "2", "3", "4", "5"});
  }
  SUBCASE("the second comes back while the first is still held") {
    h.consume(2, 1, "jobs", 2);
    h.take();
    h.settle(2, wire::Verb::nack, 2, 2, "", 0);
    h.consume(3, 1, "jobs", 10);
    CHECK(h.take_payloads() == std::vector<std::string>{"2", "3", "4", "5"});
  }
}

TEST_CASE("attempts: the consumer's error text is kept, cut at 1,024 bytes between two characters") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 1));
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 1);
  std::string text(1'023, 'x');
  text += "\xc3\xa9 and more";  // é begins at byte 1,023
  h.settle(2, wire::Verb::nack, 1, 1, text);
  const wire::Map peeked = h.ask("queue.peek", wire::Map().set("name", "jobs.dlq"));
  const wire::Map& message = *peeked.find("messages")->get_if<wire::Array>()->at(0).get_if<wire::Map>();
  CHECK(*message.find("dead")->get_if<wire::Map>()->find("error")->get_if<std::string>() == std::string(1'023, 'x'));
}

}  // namespace
}  // namespace sluice::engine
