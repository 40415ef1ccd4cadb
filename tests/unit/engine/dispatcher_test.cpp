#include <doctest/doctest.h>

#include <map>

#include "harness.h"

namespace sluice::engine {
namespace {

std::map<std::uint64_t, std::uint64_t> by_session(const std::vector<Seen>& seen) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const Seen& one : seen) ++counts[one.session];
  return counts;
}

std::vector<std::string> numbered(int count) {
  std::vector<std::string> payloads;
  for (int i = 0; i < count; ++i) payloads.push_back(std::to_string(i));
  return payloads;
}

TEST_CASE("dispatch: equal consumers share equally") {
  Harness h;
  for (std::uint64_t session = 2; session <= 4; ++session) h.consume(session, 1, "jobs", 100);
  h.publish(1, "jobs", numbered(90));
  const auto counts = by_session(h.take());
  CHECK(counts.at(2) == 30);
  CHECK(counts.at(3) == 30);
  CHECK(counts.at(4) == 30);
}

TEST_CASE("dispatch: a newcomer gets the next work until it carries as much as the others") {
  Harness h;
  h.consume(2, 1, "jobs", 100);
  h.publish(1, "jobs", numbered(10));
  h.take();
  h.consume(3, 1, "jobs", 100);
  h.publish(1, "jobs", numbered(10));
  CHECK(by_session(h.take()) == std::map<std::uint64_t, std::uint64_t>{{3, 10}});
  h.publish(1, "jobs", numbered(10));
  CHECK(by_session(h.take()) == std::map<std::uint64_t, std::uint64_t>{{2, 5}, {3, 5}});
}

TEST_CASE("dispatch: a consumer without credit is passed over, and the others get the rest") {
  Harness h;
  h.consume(2, 1, "jobs", 3);
  h.consume(3, 1, "jobs", 100);
  h.publish(1, "jobs", numbered(20));
  CHECK(by_session(h.take()) == std::map<std::uint64_t, std::uint64_t>{{2, 3}, {3, 17}});
}

TEST_CASE("dispatch: what a consumer gets in a turn has consecutive leases, whoever else is served") {
  Harness h;
  h.consume(2, 1, "jobs", 100);
  h.consume(3, 1, "jobs", 100);
  h.publish(1, "jobs", numbered(10));
  std::map<std::uint64_t, std::vector<std::uint64_t>> leases;
  for (const Seen& one : h.take()) leases[one.session].push_back(one.lease);
  for (const auto& [session, own] : leases)
    for (std::size_t i = 1; i < own.size(); ++i) CHECK(own[i] == own[i - 1] + 1);
}

TEST_CASE("dispatch: first deliveries follow the order of publishing, priorities first") {
  Harness h;
  h.publish(1, "jobs", {"a", "b"});
  h.publish(1, "jobs", {"high"}, 9);
  h.publish(1, "jobs", {"low"}, 0);
  h.publish(1, "jobs", {"c"});
  h.consume(2, 1, "jobs", 10);
  CHECK(h.take_payloads() == std::vector<std::string>{"high", "a", "b", "c", "low"});
}

TEST_CASE("C12 dispatch: a message that comes due, or back, competes with its own priority") {
  Harness h;
  h.publish(1, "jobs", {"delayed"}, 9, 300);
  h.publish(1, "jobs", {"failed"}, 9);
  h.consume(2, 1, "jobs", 1);
  h.settle(2, wire::Verb::nack, 1, 1, "no", 0);
  h.publish(1, "jobs", numbered(3), 5);
  h.pass(300);
  h.take();
  h.grant(2, 1, 10);
  CHECK(h.take_payloads() == std::vector<std::string>{"delayed", "failed", "0", "1", "2"});
}

TEST_CASE("C03 dispatch: at any moment at most one lease a message, and counts without repeat or gap") {
  Harness h;
  h.declare("jobs", wire::Map().set("lease_ms", 100).set("max_attempts", 1'000).set("backoff_initial_ms", 0));
  h.publish(1, "jobs", {"1", "2", "3"});
  for (std::uint64_t session = 2; session < 18; ++session) h.consume(session, 1, "jobs", 60'000);
  h.pass(2'000);
  std::map<std::uint64_t, std::uint64_t> counts;
  std::map<std::uint64_t, std::uint64_t> last_ms;
  for (const Seen& seen : h.take()) {
    CHECK(seen.count == ++counts[seen.id]);
    if (seen.count > 1) CHECK(seen.at_ms >= last_ms[seen.id] + 100);
    last_ms[seen.id] = seen.at_ms;
  }
  CHECK(counts.size() == 3);
  for (const auto& [id, count] : counts) CHECK(count == 21);
}

TEST_CASE(
    "C40 dispatch: 30,000 leases that end at once are handled over several turns, and another queue is served "
    "between") {
  Harness h;
  h.declare("big", wire::Map().set("lease_ms", 100).set("backoff_initial_ms", 0));
  h.publish(1, "big", numbered(30'000));
  h.consume(2, 1, "big", 30'000, 1 << 30);
  h.consume(3, 1, "small", 1'000);
  h.take();
  h.now.steady_ms += 200;
  h.now.wall_ms += 200;
  std::size_t turns = 0;
  bool more = true;
  while (more) {
    wire::Publish frame;
    frame.queue = "small";
    frame.first_sequence = 30'001 + turns;
    frame.messages = {{"x", {}, 0, 4}};
    h.engine.apply(SessionId{1}, frame, h.now);
    more = h.engine.finish_turn(h.now);
    ++turns;
    CHECK(by_session(h.take())[3] == 1);  // in the same turn
  }
  CHECK(turns > 4);
  CHECK(h.count("big", "ready") == 30'000);
}

}  // namespace
}  // namespace sluice::engine
