#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

std::vector<std::string> payloads(Harness& h, std::string_view queue) {
  std::vector<std::string> found;
  const wire::Map peeked = h.ask("queue.peek", wire::Map().set("name", queue).set("limit", 1'000));
  for (const wire::Value& message : *peeked.find("messages")->get_if<wire::Array>())
    found.push_back(message.get_if<wire::Map>()->find("payload")->get_if<wire::Bin>()->bytes);
  return found;
}

using Payloads = std::vector<std::string>;

TEST_CASE("overflow drop_oldest: the oldest that is not leased makes room, exactly, and is counted") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 3).set("overflow", "drop_oldest"));
  h.publish(1, "jobs", {"1", "2", "3"});
  h.consume(2, 1, "jobs", 1);
  h.publish(1, "jobs", {"4", "5"});
  CHECK(payloads(h, "jobs") == Payloads{"1", "4", "5"});
  CHECK(h.counter("jobs", "dropped") == 2);
  CHECK(h.told.confirms[1].back().accepted.at(0).count == 2);
}

TEST_CASE("overflow drop_oldest: in bytes as many go as are needed") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_bytes", 10).set("overflow", "drop_oldest"));
  h.publish(1, "jobs", {"aaa", "bbb", "ccc"});
  h.publish(1, "jobs", {"12345"});
  CHECK(payloads(h, "jobs") == Payloads{"ccc", "12345"});
  h.publish(1, "jobs", {std::string(11, 'x')});  // would never fit: nothing is dropped for it
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
  CHECK(payloads(h, "jobs") == Payloads{"ccc", "12345"});
}

TEST_CASE("overflow drop_oldest: where everything is leased the newest is refused and nothing is dropped") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 2).set("overflow", "drop_oldest"));
  h.publish(1, "jobs", {"1", "2"});
  h.consume(2, 1, "jobs", 2);
  h.publish(1, "jobs", {"3"});
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
  CHECK(h.count("jobs", "leased") == 2);
}

TEST_CASE("overflow dead_letter_oldest: what makes room is kept as a dead letter, with the reason") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 1).set("overflow", "dead_letter_oldest"));
  h.publish(1, "jobs", {"1", "2"});
  CHECK(payloads(h, "jobs") == Payloads{"2"});
  CHECK(payloads(h, "jobs.dlq") == Payloads{"1"});
  CHECK(*h.ask("dlq.replay", wire::Map().set("name", "jobs.dlq").set("reason", "overflow").set("to", "other"))
             .find("replayed")
             ->get_if<std::uint64_t>() == 1);
}

struct Blocking : Harness {
  Blocking() {
    declare("jobs", wire::Map().set("max_messages", 2).set("overflow", "block").set("block_timeout_ms", 500));
    publish(1, "jobs", {"1", "2"});
    told.confirms.clear();
  }
  std::uint64_t confirmed(std::uint64_t session) {
    return told.confirms[session].empty() ? 0 : told.confirms[session].back().up_to;
  }
};

TEST_CASE("overflow block: the confirmation waits for room, and comes when there is some") {
  Blocking h;
  h.publish(1, "jobs", {"3"});
  CHECK(h.told.confirms[1].empty());
  CHECK(h.count("jobs", "ready") == 2);
  h.consume(2, 1, "jobs", 1);
  h.settle(2, wire::Verb::ack, 1, 1);
  REQUIRE(h.told.confirms[1].size() == 1);
  CHECK(h.confirmed(1) == 3);
  CHECK(payloads(h, "jobs") == Payloads{"2", "3"});
}

TEST_CASE("overflow block: those that wait come in order, and a later one does not pass them") {
  Blocking h;
  h.publish(1, "jobs", {"3", "4"});
  h.publish(5, "jobs", {"5"});
  h.consume(2, 1, "jobs", 10);
  h.settle(2, wire::Verb::ack, 1, 1);
  CHECK(h.confirmed(1) == 3);
  CHECK(h.told.confirms[5].empty());
  h.settle(2, wire::Verb::ack, 2, 3);
  CHECK(h.confirmed(1) == 4);
  CHECK(h.confirmed(5) == 1);
  CHECK(payloads(h, "jobs") == Payloads{"4", "5"});
}

TEST_CASE("overflow block: after the timeout it is queue_full, and what was published elsewhere is decided meanwhile") {
  Blocking h;
  h.publish(1, "jobs", {"3"});
  h.publish(1, "other", {"x"});
  REQUIRE(h.told.confirms[1].size() == 1);
  CHECK(h.told.confirms[1][0].up_to == 2);  // 3 is not decided
  CHECK(h.told.confirms[1][0].accepted.at(0).first_sequence == 4);
  h.pass(499);
  CHECK(h.told.confirms[1].size() == 1);
  h.pass(1);
  REQUIRE(h.told.confirms[1].size() == 2);
  CHECK(h.confirmed(1) == 4);
  CHECK(h.told.confirms[1][1].refused.at(0).first_sequence == 3);
  CHECK(h.told.confirms[1][1].refused.at(0).error.name == "queue_full");
  CHECK(h.count("jobs", "ready") == 2);
}

TEST_CASE("overflow block: a session that goes takes its waiting publishes along, and a resend is enqueued once") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 1).set("overflow", "block"));
  h.open(1, "producer-16bytes");
  h.publish_from(1, "jobs", 1, {"1", "2"});
  h.open(2, "producer-16bytes");
  h.publish_from(2, "jobs", 2, {"2"});  // the old session is not known to be gone yet
  h.close(1);
  h.consume(3, 1, "jobs", 5);
  h.settle(3, wire::Verb::ack, 1, 1);
  CHECK(h.told.confirms[2].back().up_to == 2);
  CHECK(h.take_payloads() == Payloads{"1", "2"});
  h.publish_from(2, "jobs", 3, {"3"});
  h.close(2);
  h.settle(3, wire::Verb::ack, 2, 2);
  CHECK(h.take().empty());
}

TEST_CASE("overflow block: up_to stops before what waited and was forgotten with its session, until it is sent again") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 1).set("overflow", "block"));
  h.open(1, "producer-16bytes");
  h.publish_from(1, "jobs", 1, {"1", "2"});
  h.publish_from(1, "other", 3, {"3"});
  h.publish_from(1, "jobs", 4, {"4", "5"});
  CHECK(h.told.confirms[1].back().up_to == 1);
  h.close(1);
  // 4 and 5, the last ones, are as if they had never been sent; 3 keeps its answer.
  CHECK(h.engine.open_session(SessionId{7}, "producer-16bytes") == 3);
  h.open(2, "producer-16bytes");
  h.publish_from(2, "other", 4, {"x"});
  CHECK(h.told.confirms[2].back().accepted.at(0).first_sequence == 4);
  CHECK(h.told.confirms[2].back().up_to == 1);
  h.ask("queue.purge", wire::Map().set("name", "jobs"));
  h.publish_from(2, "jobs", 2, {"2"});
  CHECK(h.told.confirms[2].back().accepted.at(0).first_sequence == 2);
  CHECK(h.told.confirms[2].back().up_to == 4);
  CHECK(payloads(h, "jobs") == Payloads{"2"});
  CHECK(payloads(h, "other") == Payloads{"3", "x"});
}

TEST_CASE("overflow block: what waited, was forgotten and never sent again holds up_to for one publish window") {
  Harness h;
  h.declare("jobs", wire::Map().set("max_messages", 1).set("overflow", "block"));
  h.open(1, "producer-16bytes");
  h.publish_from(1, "jobs", 1, {"1", "2"});
  h.publish_from(1, "other", 3, {"3"});
  h.close(1);
  h.open(2, "producer-16bytes");
  const std::vector<std::string> many(1'000, "x");
  std::uint64_t next = 4;
  for (; next + 1'000 <= 2 + kRememberedMax; next += 1'000) h.publish_from(2, "other", next, many);
  CHECK(h.told.confirms[2].back().up_to == 1);
  h.publish_from(2, "other", next, many);
  CHECK(h.told.confirms[2].back().up_to == next + 999);
}

TEST_CASE("overflow block: a deleted queue refuses what waits for it") {
  Blocking h;
  h.publish(1, "jobs", {"3"});
  h.ask("queue.delete", wire::Map().set("name", "jobs"));
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_deleted");
  CHECK(h.confirmed(1) == 3);
}

TEST_CASE("overflow block: purge, and a raised limit, let in what waits") {
  Blocking h;
  h.publish(1, "jobs", {"3", "4", "5"});
  h.ask("queue.purge", wire::Map().set("name", "jobs"));
  CHECK(h.confirmed(1) == 4);
  h.ask("queue.edit", wire::Map().set("name", "jobs").set("policy", wire::Map().set("max_messages", 0)));
  CHECK(h.confirmed(1) == 5);
}

TEST_CASE("overflow block: what waits counts against the publish window") {
  EngineOptions options;
  options.window.messages = 2;
  Harness h(options);
  h.declare("jobs", wire::Map().set("max_messages", 1).set("overflow", "block"));
  h.publish(1, "jobs", {"1"});
  h.publish(1, "jobs", {"2", "3"});
  h.publish(1, "other", {"x"});
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "publish_window");
}

}  // namespace
}  // namespace sluice::engine
