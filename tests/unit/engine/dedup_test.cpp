#include <doctest/doctest.h>

#include "engine/dedup_keys.h"
#include "harness.h"

namespace sluice::engine {
namespace {

wire::PublishMessage keyed(std::string_view payload, std::string_view key) {
  wire::PublishMessage message;
  message.payload = payload;
  message.dedup_key = key;
  return message;
}

TEST_CASE(
    "dedup: the same key inside the window is enqueued once and confirmed with the first one's id, whoever sends it") {
  Harness h;
  h.publish_one(1, "jobs", keyed("a", "order-7"));
  h.publish_one(5, "jobs", keyed("b", "order-7"));
  h.publish_one(1, "jobs", keyed("c", "order-8"));
  CHECK(h.count("jobs", "ready") == 2);
  CHECK(h.told.confirms[5].back().accepted.at(0).first_id == h.told.confirms[1][0].accepted.at(0).first_id);
  CHECK(h.counter("jobs", "deduplicated") == 1);
}

TEST_CASE("dedup: also after the message was acked, until the window is over") {
  Harness h;
  h.declare("jobs", wire::Map().set("dedup_window_ms", 1'000));
  h.consume(2, 1, "jobs", 10);
  h.publish_one(1, "jobs", keyed("a", "k"));
  h.settle(2, wire::Verb::ack, 1, 1);
  h.pass(999);
  h.publish_one(1, "jobs", keyed("b", "k"));
  CHECK(h.take().size() == 1);
  h.pass(1);
  h.publish_one(1, "jobs", keyed("c", "k"));
  CHECK(h.take_payloads() == std::vector<std::string>{"c"});
}

TEST_CASE("dedup: keys of different queues have nothing to do with each other, and a window of 0 remembers none") {
  Harness h;
  h.declare("forgetful", wire::Map().set("dedup_window_ms", 0));
  for (const char* queue : {"a", "b", "forgetful", "forgetful"}) h.publish_one(1, queue, keyed("x", "k"));
  CHECK(h.count("a", "ready") == 1);
  CHECK(h.count("b", "ready") == 1);
  CHECK(h.count("forgetful", "ready") == 2);
}

TEST_CASE("dedup: a refused message leaves its key unused") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 1));
  h.publish(1, "jobs", {"x"});
  h.publish_one(1, "jobs", keyed("a", "k"));
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
  h.ask("queue.purge", wire::Map().set("name", "jobs"));
  h.publish_one(1, "jobs", keyed("a", "k"));
  CHECK(h.count("jobs", "ready") == 1);
}

TEST_CASE("dedup: two that wait for room under one key become one message") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 1).set("overflow", "block"));
  h.publish(1, "jobs", {"x"});
  h.publish_one(1, "jobs", keyed("a", "k"));
  h.publish_one(5, "jobs", keyed("b", "k"));
  h.ask("queue.edit", wire::Map().set("name", "jobs").set("policy", wire::Map().set("max_messages", 0)));
  CHECK(h.count("jobs", "ready") == 2);
  CHECK(h.told.confirms[1].back().accepted.at(0).first_id == h.told.confirms[5].back().accepted.at(0).first_id);
}

TEST_CASE("dedup: old keys are forgotten as new ones come") {
  DedupKeys keys;
  Now now{1'000, 0};
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    now.steady_ms += 10;
    CHECK_FALSE(keys.find(std::to_string(i), 100, now).has_value());
    keys.add(std::to_string(i), MessageId{i}, now);
  }
  CHECK(keys.find("999", 100, now) == MessageId{999});
  CHECK(keys.find("990", 100, now) == MessageId{990});
  CHECK_FALSE(keys.find("989", 100, now).has_value());
  now.steady_ms += 100;
  CHECK_FALSE(keys.find("999", 100, now).has_value());
  CHECK(keys.empty());
}

TEST_CASE("publish: a refused sequence that is sent again is refused again, though there would be room now") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 1));
  h.open(1, "producer-16bytes");
  h.publish_from(1, "jobs", 1, {"1", "2"});
  h.close(1);
  h.ask("queue.purge", wire::Map().set("name", "jobs"));
  h.open(2, "producer-16bytes");
  h.publish_from(2, "jobs", 1, {"1", "2", "3"});
  const wire::Confirm& confirm = h.told.confirms[2].back();
  CHECK(confirm.up_to == 3);
  CHECK(confirm.refused.at(0).first_sequence == 2);
  CHECK(confirm.refused.at(0).error.name == "queue_full");
  CHECK(h.count("jobs", "ready") == 1);
}

}  // namespace
}  // namespace sluice::engine
