#include "engine/now.h"

#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

// The turn began at whole milliseconds; the command itself comes 3 ms later in it.
struct Late : Harness {
  template <class Command>
  void late(Command command) {
    now.since_ms = 3;
    command();
    now.since_ms = 0;
  }
  // How long until something is delivered; at most a second.
  std::uint64_t delivered_after() {
    take();
    for (std::uint64_t ms = 0; ms < 1'000; ++ms) {
      if (!take().empty()) return ms;
      pass(1);
    }
    return 1'000;
  }
};

TEST_CASE("now: a delay counts from the moment of the publish, not from the beginning of its turn") {
  Late h;
  h.consume(2, 1, "jobs", 10);
  h.late([&] { h.publish(1, "jobs", {"m"}, 4, 10); });
  CHECK(h.delivered_after() == 13);
}

TEST_CASE("now: a lease counts from the moment of the hand-out, and an extension from that of the settlement") {
  Late h;
  h.declare("jobs", wire::Map().set("lease_ms", 100).set("backoff_initial_ms", 0));
  h.consume(2, 1, "jobs", 10);
  h.late([&] { h.publish(1, "jobs", {"m"}); });
  CHECK(h.take().size() == 1);
  h.pass(102);
  CHECK(h.told.lost[2].empty());
  h.late([&] { h.extend(2, 1, 100); });
  h.pass(102);
  CHECK(h.told.lost[2].empty());
  h.pass(1);
  CHECK(h.told.lost[2].size() == 1);
}

TEST_CASE("now: a backoff counts from the moment of the nack") {
  Late h;
  h.declare("jobs", wire::Map().set("backoff_initial_ms", 10).set("backoff_jitter", 0));
  h.consume(2, 1, "jobs", 10);
  h.publish(1, "jobs", {"m"});
  h.late([&] { h.settle(2, wire::Verb::nack, 1, 1); });
  CHECK(h.delivered_after() == 13);
  h.late([&] { h.settle(2, wire::Verb::nack, 2, 2, {}, 20); });
  CHECK(h.delivered_after() == 23);
}

TEST_CASE("now: a waiting publish waits for its whole time, and a deduplication key is remembered for it") {
  Late h;
  h.declare("jobs", wire::Map().set("max_messages", 1).set("overflow", "block").set("block_timeout_ms", 10));
  h.publish(1, "jobs", {"1"});
  h.late([&] { h.publish(1, "jobs", {"2"}); });
  h.pass(12);
  CHECK(h.told.confirms[1].size() == 1);
  h.pass(1);
  CHECK(h.told.confirms[1].size() == 2);

  h.declare("keyed", wire::Map().set("dedup_window_ms", 10));
  wire::PublishMessage message;
  message.dedup_key = "k";
  h.late([&] { h.publish_one(1, "keyed", message); });
  h.publish_one(1, "keyed", message);  // by a clock that stands before the first one's moment
  h.pass(12);
  h.publish_one(1, "keyed", message);
  CHECK(h.count("keyed", "ready") == 1);
  h.pass(1);
  h.publish_one(1, "keyed", message);
  CHECK(h.count("keyed", "ready") == 2);
}

TEST_CASE("now: a time to live ends rather early than late") {
  Late h;
  h.declare("jobs", wire::Map().set("on_expiry", "drop"));
  wire::PublishMessage message;
  message.ttl_ms = 10;
  h.late([&] { h.publish_one(1, "jobs", message); });
  h.pass(9);
  CHECK(h.count("jobs", "ready") == 1);
  h.pass(1);
  CHECK(h.count("jobs", "ready") == 0);
  CHECK(h.counter("jobs", "expired") == 1);
}

}  // namespace
}  // namespace sluice::engine
