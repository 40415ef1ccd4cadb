#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

// Three messages that came back because their holder, session 2, vanished.
void make_suspects(Harness& h) {
  h.publish(1, "jobs", {"1", "2", "3"});
  h.consume(2, 1, "jobs", 3);
  h.take();
  h.close(2);
}

TEST_CASE(
    "suspects: the poison among prefetched messages dies alone; its neighbours are delivered and cost nobody more") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_attempts", 3).set("backoff_initial_ms", 100));
  h.publish(1, "jobs", {"good", "poison", "fine"});
  std::vector<std::string> done;
  for (std::uint64_t session = 2; session < 20 && h.counter("jobs", "dead_lettered") == 0; ++session) {
    h.consume(session, 1, "jobs", 16);
    for (bool dead = false; !dead && !h.told.deliveries.empty();) {
      const auto held = h.take();
      for (const Seen& seen : held) dead = dead || seen.payload == "poison";
      if (dead) {
        h.close(session);  // before anything is acked
        h.pass(1'000);
        break;
      }
      for (const Seen& seen : held) {
        done.push_back(seen.payload);
        h.settle(session, wire::Verb::ack, seen.lease, seen.lease);
      }
    }
  }
  CHECK(h.count("jobs", "dead") == 1);
  h.consume(50, 1, "jobs", 16);
  for (const Seen& seen : h.take()) done.push_back(seen.payload);
  CHECK(done == std::vector<std::string>{"good", "fine"});
  CHECK(h.counter("jobs", "returned_by_disconnect") == 3 + 2);
}

TEST_CASE("suspects: the holder of one gets nothing else until it has settled it") {
  Harness h;
  make_suspects(h);
  h.publish(1, "jobs", {"4", "5"});
  h.consume(3, 1, "jobs", 16);
  CHECK(h.take_payloads() == std::vector<std::string>{"1"});
  h.settle(3, wire::Verb::ack, 4, 4);
  CHECK(h.take_payloads() == std::vector<std::string>{"2"});
  h.settle(3, wire::Verb::nack, 5, 5, "no", 60'000);
  CHECK(h.take_payloads() == std::vector<std::string>{"3"});
  h.settle(3, wire::Verb::ack, 6, 6);
  CHECK(h.take_payloads() == std::vector<std::string>{"4", "5"});
}

TEST_CASE("suspects: idle consumers take one each, and the rest flows beside them") {
  Harness h;
  make_suspects(h);
  h.consume(3, 1, "jobs", 16);
  h.consume(4, 1, "jobs", 16);
  CHECK(h.take_payloads() == std::vector<std::string>{"1", "2"});
  h.settle(4, wire::Verb::ack, 5, 5);
  CHECK(h.take_payloads() == std::vector<std::string>{"3"});
  h.settle(4, wire::Verb::ack, 6, 6);
  h.publish(1, "jobs", {"4", "5"});
  const auto rest = h.take();
  REQUIRE(rest.size() == 2);
  CHECK(rest[0].session == 4);
  CHECK(rest[1].session == 4);
}

TEST_CASE("suspects: where all consumers are busy one is kept free for them, and the others go on") {
  Harness h;
  h.consume(3, 1, "jobs", 100);
  h.consume(4, 1, "jobs", 100);
  h.publish(1, "jobs", {"a", "b", "c", "d"});
  const auto held = h.take();
  h.consume(2, 1, "jobs", 1);
  h.publish(1, "jobs", {"suspect"});
  CHECK(h.take().at(0).session == 2);
  h.close(2);
  CHECK(h.take().empty());  // 3 and 4 both hold something
  h.publish(1, "jobs", {"e", "f", "g", "h"});
  const auto flowing = h.take();
  REQUIRE(flowing.size() == 4);
  const std::uint64_t busy = flowing[0].session;
  const std::uint64_t kept = busy == 3 ? 4 : 3;
  for (const Seen& seen : flowing) CHECK(seen.session == busy);
  for (const Seen& seen : held)
    if (seen.session == kept) h.settle(kept, wire::Verb::ack, seen.lease, seen.lease);
  const auto alone = h.take();
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].payload == "suspect");
  CHECK(alone[0].session == kept);
}

TEST_CASE("suspects: one whose holder vanishes again waits for its backoff") {
  Harness h;
  h.declare("jobs", wire::Map().set("backoff_initial_ms", 500).set("backoff_jitter", 0.0));
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 1);
  h.close(2);
  h.consume(3, 1, "jobs", 1);
  CHECK(h.take().size() == 2);  // at once
  h.close(3);
  h.consume(4, 1, "jobs", 1);
  h.pass(999);  // the second failure waits 500 ms x 2
  CHECK(h.take().empty());
  h.pass(1);
  CHECK(h.take().size() == 1);
}

TEST_CASE("suspects: purge and peek see them as ready") {
  Harness h;
  make_suspects(h);
  CHECK(h.count("jobs", "ready") == 3);
  const wire::Map result = h.ask("queue.purge", wire::Map().set("name", "jobs"));
  CHECK(*result.find("purged")->get_if<std::uint64_t>() == 3);
  h.consume(3, 1, "jobs", 5);
  h.publish(1, "jobs", {"4"});
  CHECK(h.take_payloads() == std::vector<std::string>{"4"});
}

TEST_CASE("suspects: a higher priority goes first, as always") {
  Harness h;
  make_suspects(h);
  h.publish(1, "jobs", {"high"}, 9);
  h.consume(3, 1, "jobs", 1);
  CHECK(h.take_payloads() == std::vector<std::string>{"high"});
}

}  // namespace
}  // namespace sluice::engine
