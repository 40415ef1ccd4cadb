#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

constexpr auto number = [](ErrorCode code) { return static_cast<std::uint64_t>(code); };

TEST_CASE("publish: one turn is one confirmation, cumulative, with the ids as runs") {
  Harness h;
  h.open(1);
  const auto frame = [&](std::uint64_t first) {
    wire::Publish publish;
    publish.queue = "jobs";
    publish.first_sequence = first;
    publish.messages = {{"a", {}, 0, 4}, {"b", {}, 0, 4}};
    h.engine.apply(SessionId{1}, publish, h.now);
  };
  frame(1);
  frame(3);
  h.turn();
  REQUIRE(h.told.confirms[1].size() == 1);
  const wire::Confirm& confirm = h.told.confirms[1][0];
  CHECK(confirm.up_to == 4);
  REQUIRE(confirm.accepted.size() == 1);
  CHECK(confirm.accepted[0].first_sequence == 1);
  CHECK(confirm.accepted[0].count == 4);
  CHECK(confirm.refused.empty());
  CHECK(h.count("jobs", "ready") == 4);
}

TEST_CASE(
    "publish: a resend is confirmed with the first one's ids and enqueued once, also from another session of the "
    "producer") {
  Harness h;
  h.open(1, "producer-16bytes");
  h.publish_from(1, "jobs", 1, {"a", "b", "c"});
  const std::uint64_t first_id = h.told.confirms[1][0].accepted[0].first_id;
  h.close(1);
  h.open(2, "producer-16bytes");
  h.publish_from(2, "jobs", 2, {"b", "c", "d"});
  const wire::Confirm& confirm = h.told.confirms[2].back();
  CHECK(confirm.up_to == 4);
  REQUIRE(confirm.accepted.size() == 1);
  CHECK(confirm.accepted[0].first_sequence == 2);
  CHECK(confirm.accepted[0].first_id == first_id + 1);
  CHECK(confirm.accepted[0].count == 3);
  CHECK(h.count("jobs", "ready") == 4);
  CHECK(h.counter("jobs", "deduplicated") == 2);
}

TEST_CASE("publish: a producer that the broker does not know may begin at any sequence, but leave no gap after") {
  Harness h;
  h.open(1, "producer-16bytes");
  h.publish_from(1, "jobs", 1'000, {"a"});
  CHECK(h.told.confirms[1].back().up_to == 1'000);
  h.publish_from(1, "jobs", 1'002, {"c", "d"});
  const wire::Confirm& gap = h.told.confirms[1].back();
  CHECK(gap.up_to == 1'000);
  REQUIRE(gap.refused.size() == 1);
  CHECK(gap.refused[0].first_sequence == 1'002);
  CHECK(gap.refused[0].count == 2);
  CHECK(gap.refused[0].error.code == number(ErrorCode::sequence_gap));
  h.publish_from(1, "jobs", 1'001, {"b", "c"});
  CHECK(h.told.confirms[1].back().up_to == 1'002);
  CHECK(h.count("jobs", "ready") == 3);
}

TEST_CASE("publish: a bad queue name refuses the frame's messages as one run and changes nothing") {
  Harness h;
  h.publish(1, "a/b", {"x", "y", "z"});
  const wire::Confirm& confirm = h.told.confirms[1].back();
  CHECK(confirm.up_to == 3);
  CHECK(confirm.accepted.empty());
  REQUIRE(confirm.refused.size() == 1);
  CHECK(confirm.refused[0].count == 3);
  CHECK(confirm.refused[0].error.name == "bad_queue_name");
  CHECK(h.ask("queue.list", {}).find("queues")->get_if<wire::Array>()->empty());
}

TEST_CASE("publish: without auto-create an unknown queue is refused") {
  EngineOptions options;
  options.auto_create = false;
  Harness h(options);
  h.publish(1, "jobs", {"x"});
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "unknown_queue");
  h.declare("jobs", {});
  h.publish(1, "jobs", {"x"});
  CHECK(h.told.confirms[1].back().accepted.at(0).count == 1);
}

TEST_CASE("publish: max_messages is exact, the error says to try again, and room is room at once") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 3));
  h.publish(1, "jobs", {"1", "2", "3", "4", "5"});
  const wire::Confirm& confirm = h.told.confirms[1].back();
  CHECK(confirm.accepted.at(0).count == 3);
  CHECK(confirm.refused.at(0).first_sequence == 4);
  CHECK(confirm.refused.at(0).count == 2);
  CHECK(confirm.refused.at(0).error.name == "queue_full");
  CHECK(confirm.refused.at(0).error.retry);
  CHECK(confirm.refused.at(0).error.retry_after_ms > 0);
  CHECK(h.count("jobs", "ready") == 3);
  h.consume(2, 1, "jobs", 1);
  h.settle(2, wire::Verb::ack, 1, 1);
  h.publish(1, "jobs", {"6", "7"});
  CHECK(h.told.confirms[1].back().accepted.at(0).count == 1);
  CHECK(h.told.confirms[1].back().refused.at(0).count == 1);
}

TEST_CASE("publish: max_bytes counts payloads and headers") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_bytes", 10));
  h.publish(1, "jobs", {"12345", "12345", ""});
  CHECK(h.told.confirms[1].back().accepted.at(0).count == 3);
  h.publish(1, "jobs", {"1"});
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
}

TEST_CASE("publish: more unconfirmed messages than the window in one turn are refused") {
  EngineOptions options;
  options.window.messages = 2;
  Harness h(options);
  h.publish(1, "jobs", {"1", "2", "3"});
  CHECK(h.told.confirms[1].back().accepted.at(0).count == 2);
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "publish_window");
  h.publish(1, "jobs", {"4", "5"});
  CHECK(h.told.confirms[1].back().accepted.at(0).count == 2);
}

TEST_CASE("publish: what cannot fit into a delivery is refused and the session goes on") {
  EngineOptions options;
  options.message_bytes_max = 100;
  Harness h(options);
  h.publish(1, "jobs", {std::string(101, 'x'), std::string(100, 'x')});
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "frame_too_large");
  CHECK(h.told.confirms[1].back().accepted.at(0).first_sequence == 2);
}

TEST_CASE("publish: the number of queues is limited") {
  EngineOptions options;
  options.queues_max = 2;
  Harness h(options);
  h.publish(1, "a", {"x"});
  h.publish(1, "b", {"x"});
  h.publish(1, "c", {"x"});
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_limit");
}

TEST_CASE("publish: a delayed message is delivered when it is due and not before, in its old place") {
  Harness h;
  h.publish(1, "jobs", {"late"}, 4, 300);
  h.publish(1, "jobs", {"now"});
  CHECK(h.count("jobs", "delayed") == 1);
  h.pass(299);
  h.consume(2, 1, "jobs", 10);
  CHECK(h.take_payloads() == std::vector<std::string>{"now"});
  h.pass(1);
  CHECK(h.take_payloads() == std::vector<std::string>{"late"});
}

}  // namespace
}  // namespace sluice::engine
