#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

void bind(Harness& h, std::string_view queue, std::string_view pattern) {
  h.ask("bind.add", wire::Map().set("queue", queue).set("pattern", pattern));
}

void publish(Harness& h, std::string_view topic, std::string_view payload) {
  wire::PublishMessage message;
  message.payload = payload;
  h.publish_one(1, topic, message, wire::PublishKind::topic);
}

void subscribe(Harness& h, std::uint64_t session, std::uint64_t consumer, std::string_view pattern,
               wire::Map policy = {}) {
  h.open(session);
  h.engine.apply(SessionId{session}, wire::Consume{1, consumer, "", 100, 1 << 20, pattern, std::move(policy)});
  h.turn();
}

TEST_CASE("topics: every queue bound at that time gets one copy, with one id, whatever else is bound") {
  Harness h;
  bind(h, "all", "#");
  bind(h, "eu", "orders.eu.*");
  bind(h, "us", "orders.us.*");
  publish(h, "orders.eu.paris", "m");
  CHECK(h.count("all", "ready") == 1);
  CHECK(h.count("eu", "ready") == 1);
  CHECK(h.count("us", "ready") == 0);
  h.consume(2, 1, "all", 1);
  h.consume(2, 2, "eu", 1);
  const auto seen = h.take();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].id == seen[1].id);
  CHECK(seen[0].payload == "m");
  CHECK(seen[1].payload == "m");
}

TEST_CASE("C09 topics: a queue bound twice, and by two patterns, gets one copy") {
  Harness h;
  bind(h, "jobs", "t.*");
  bind(h, "jobs", "t.1");
  CHECK_FALSE(*h.ask("bind.add", wire::Map().set("queue", "jobs").set("pattern", "t.1")).find("added")->get_if<bool>());
  publish(h, "t.1", "m");
  CHECK(h.count("jobs", "ready") == 1);
  CHECK(h.counter("jobs", "enqueued") == 1);
}

TEST_CASE(
    "topics: bound to a queue and to its dead letters, a publish is refused where those reject, and nothing is moved") {
  Harness h;
  h.declare("q", wire::Map().set("max_messages", 1).set("overflow", "dead_letter_oldest"));
  h.declare("q.dlq", wire::Map().set("max_messages", 1));
  bind(h, "q", "t");
  bind(h, "q.dlq", "t");
  publish(h, "t", "1");
  publish(h, "t", "2");  // q would make room; q.dlq has none, and rejects
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
  CHECK(h.count("q", "ready") == 1);
  CHECK(h.count("q", "dead") == 1);
  CHECK(h.counter("q", "dead_lettered") == 0);
}

TEST_CASE("topics: where the dead letters had room, the one that makes room in the queue is not dropped for it again") {
  Harness h;
  h.declare("q", wire::Map().set("max_messages", 1).set("overflow", "dead_letter_oldest"));
  h.declare("q.dlq", wire::Map().set("max_messages", 2));
  bind(h, "q", "t");
  bind(h, "q.dlq", "t");
  publish(h, "t", "1");
  publish(h, "t", "2");  // as a dead letter "1" goes over the limit, as any dead letter may
  h.consume(2, 1, "q", 10);
  h.consume(2, 2, "q.dlq", 10);
  CHECK(h.take_payloads() == std::vector<std::string>{"2", "1", "1", "2"});
  CHECK(h.counter("q.dlq", "dropped") == 0);
  publish(h, "t", "3");
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
}

TEST_CASE("topics: dead letters that make room themselves let the oldest go, whichever it is") {
  Harness h;
  h.declare("q", wire::Map().set("max_messages", 1).set("overflow", "dead_letter_oldest"));
  h.declare("q.dlq", wire::Map().set("max_messages", 2).set("overflow", "drop_oldest"));
  bind(h, "q", "t");
  bind(h, "q.dlq", "t");
  for (const char* const payload : {"1", "2", "3"}) publish(h, "t", payload);
  h.consume(2, 1, "q", 10);
  h.consume(2, 2, "q.dlq", 10);
  CHECK(h.take_payloads() == std::vector<std::string>{"3", "2", "3"});
  CHECK(h.counter("q.dlq", "dropped") == 3);
}

TEST_CASE("topics: at the limit of bindings one more is refused, of whatever kind; one that is there already is not") {
  EngineOptions options;
  options.bindings_max = 2;
  Harness h(options);
  bind(h, "a", "t");
  bind(h, "b", "t");
  const auto add = [&](std::string_view queue, std::string_view pattern) {
    return h.request("bind.add", wire::Map().set("queue", queue).set("pattern", pattern));
  };
  CHECK(add("c", "t").error->name == "binding_limit");
  CHECK(h.request("queue.info", wire::Map().set("name", "c")).error->name == "unknown_queue");
  CHECK_FALSE(*add("a", "t").result->find("added")->get_if<bool>());
  subscribe(h, 2, 1, "t");
  CHECK(h.told.replies[2].back().error->name == "binding_limit");
  h.ask("bind.remove", wire::Map().set("queue", "a").set("pattern", "t"));
  subscribe(h, 2, 1, "t");
  CHECK_FALSE(h.told.replies[2].back().error);
}

TEST_CASE("topics: a publish that no queue is bound for is told so and kept nowhere") {
  Harness h;
  publish(h, "a.b", "m");
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "no_route");
  bind(h, "jobs", "a.c");
  publish(h, "a.b", "m");
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "no_route");
  CHECK(h.count("jobs", "ready") == 0);
}

TEST_CASE("C09 topics: wildcards and empty words in a published topic are refused") {
  Harness h;
  bind(h, "jobs", "#");
  for (const char* topic : {"a.*", "#", "a..b", "", ".a"}) {
    publish(h, topic, "m");
    CHECK(h.told.confirms[1].back().refused.at(0).error.name == "bad_topic");
  }
  CHECK(h.request("bind.add", wire::Map().set("queue", "jobs").set("pattern", "a.#.b")).error->name == "bad_topic");
  CHECK(h.count("jobs", "ready") == 0);
}

TEST_CASE("topics: all queues get it or none does: one that is full and rejects keeps it from the others") {
  Harness h;
  h.declare("small", wire::Map().set("max_messages", 1));
  bind(h, "big", "t");
  bind(h, "small", "t");
  publish(h, "t", "1");
  publish(h, "t", "2");
  const wire::Refused& refused = h.told.confirms[1].back().refused.at(0);
  CHECK(refused.error.name == "queue_full");
  CHECK(refused.error.text.find("small") != std::string::npos);
  CHECK(h.count("big", "ready") == 1);
}

TEST_CASE("topics: a slow subscriber's queue that drops its oldest slows nobody") {
  Harness h;
  h.declare("slow", wire::Map().set("max_messages", 2).set("overflow", "drop_oldest"));
  bind(h, "slow", "t");
  bind(h, "fast", "t");
  for (int i = 0; i < 10; ++i) publish(h, "t", std::to_string(i));
  CHECK(h.count("fast", "ready") == 10);
  CHECK(h.count("slow", "ready") == 2);
  CHECK(h.counter("slow", "dropped") == 8);
}

TEST_CASE("topics: where one queue blocks the publish waits for all, and no queue has it before") {
  Harness h;
  h.declare("slow", wire::Map().set("max_messages", 1).set("overflow", "block").set("block_timeout_ms", 400));
  h.declare("slower", wire::Map().set("max_messages", 1).set("overflow", "block"));
  bind(h, "slow", "t");
  bind(h, "slower", "t");
  bind(h, "fast", "t");
  publish(h, "t", "1");
  publish(h, "t", "2");
  CHECK(h.count("fast", "ready") == 1);
  h.pass(300);
  h.ask("queue.purge", wire::Map().set("name", "slow"));
  CHECK(h.count("fast", "ready") == 1);  // it waits for the other one now
  h.ask("queue.purge", wire::Map().set("name", "slower"));
  CHECK(h.count("fast", "ready") == 2);
  CHECK(h.count("slow", "ready") == 1);
  CHECK(h.told.confirms[1].back().up_to == 2);
  publish(h, "t", "3");
  h.pass(400);
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
  CHECK(h.count("fast", "ready") == 2);
}

TEST_CASE("topics: bind, list and unbind take effect at once") {
  Harness h;
  bind(h, "b", "x.*");
  bind(h, "a", "y");
  bind(h, "a", "x.#");
  const wire::Map listed = h.ask("bind.list", {});
  std::vector<std::string> found;
  for (const wire::Value& value : *listed.find("bindings")->get_if<wire::Array>()) {
    const wire::Map& binding = *value.get_if<wire::Map>();
    found.push_back(*binding.find("queue")->get_if<std::string>() + " " +
                    *binding.find("pattern")->get_if<std::string>());
  }
  CHECK(found == std::vector<std::string>{"a x.#", "a y", "b x.*"});
  CHECK(*h.ask("bind.remove", wire::Map().set("queue", "a").set("pattern", "y")).find("removed")->get_if<bool>());
  CHECK_FALSE(*h.ask("bind.remove", wire::Map().set("queue", "a").set("pattern", "y")).find("removed")->get_if<bool>());
  publish(h, "y", "m");
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "no_route");
  h.ask("queue.delete", wire::Map().set("name", "a"));
  publish(h, "x.1", "m");
  CHECK(h.count("b", "ready") == 1);
}

TEST_CASE("topics: an unnamed subscriber has a queue of its own, which goes with its session") {
  Harness h;
  subscribe(h, 2, 1, "t.#");
  CHECK(h.told.replies[2].back().result.has_value());
  publish(h, "t.x", "1");
  CHECK(h.take_payloads() == std::vector<std::string>{"1"});
  h.close(2);
  publish(h, "t.x", "2");
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "no_route");
  CHECK(h.ask("queue.list", {}).find("queues")->get_if<wire::Array>()->empty());
}

TEST_CASE("topics: an unnamed subscriber's queue goes with cancel too, and what it holds is told lost") {
  Harness h;
  subscribe(h, 2, 1, "t");
  publish(h, "t", "1");
  h.engine.apply(SessionId{2}, wire::Cancel{9, 1});
  h.turn();
  CHECK(h.told.lost[2].at(0).code == static_cast<std::uint64_t>(ErrorCode::queue_deleted));
  CHECK(h.ask("queue.list", {}).find("queues")->get_if<wire::Array>()->empty());
  subscribe(h, 2, 1, "t");
  CHECK(h.told.replies[2].back().result.has_value());
}

TEST_CASE(
    "topics: an unnamed subscriber may give its queue a policy; wrong ones are refused and leave nothing behind") {
  Harness h;
  subscribe(h, 2, 1, "t", wire::Map().set("max_messages", 1).set("overflow", "drop_oldest"));
  CHECK(h.told.replies[2].back().result.has_value());
  subscribe(h, 2, 2, "t", wire::Map().set("overflow", "explode"));
  CHECK(h.told.replies[2].back().error->name == "bad_policy");
  subscribe(h, 2, 3, "a.#.b");
  CHECK(h.told.replies[2].back().error->name == "bad_topic");
  h.engine.apply(SessionId{2}, wire::Consume{5, 4, "named", 1, 1, "t", {}});
  CHECK(h.told.replies[2].back().error->name == "bad_field");
  CHECK(h.ask("queue.list", {}).find("queues")->get_if<wire::Array>()->size() == 1);
}

TEST_CASE("topics: the copies of a message live and die apart") {
  Harness h;
  h.declare("a", wire::Map().set("max_attempts", 1));
  bind(h, "a", "t");
  bind(h, "b", "t");
  publish(h, "t", "shared body");
  h.consume(2, 1, "a", 1);
  h.consume(2, 2, "b", 1);
  const auto seen = h.take();
  h.settle(2, wire::Verb::nack, seen[0].lease, seen[0].lease, "no");
  h.settle(2, wire::Verb::ack, seen[1].lease, seen[1].lease);
  CHECK(h.count("a", "dead") == 1);
  CHECK(h.counter("b", "acked") == 1);
  h.consume(2, 3, "a.dlq", 1);
  CHECK(h.take_payloads() == std::vector<std::string>{"shared body"});
}

TEST_CASE("topics: one dedup key, one message in every queue") {
  Harness h;
  bind(h, "a", "t");
  bind(h, "b", "t");
  wire::PublishMessage message;
  message.payload = "m";
  message.dedup_key = "k";
  for (int i = 0; i < 3; ++i) h.publish_one(1, "t", message, wire::PublishKind::topic);
  CHECK(h.count("a", "ready") == 1);
  CHECK(h.count("b", "ready") == 1);
}

TEST_CASE("consumers: are listed with what they hold and what credit they have") {
  Harness h;
  h.publish(1, "a", {"1", "2"});
  h.consume(2, 7, "a", 5, 100);
  h.consume(3, 1, "b", 0, 0);
  const wire::Array all = *h.ask("consumer.list", {}).find("consumers")->get_if<wire::Array>();
  REQUIRE(all.size() == 2);
  const wire::Map& first = *all[0].get_if<wire::Map>();
  CHECK(*first.find("queue")->get_if<std::string>() == "a");
  CHECK(*first.find("session")->get_if<std::uint64_t>() == 2);
  CHECK(*first.find("consumer")->get_if<std::uint64_t>() == 7);
  CHECK(*first.find("held")->get_if<std::uint64_t>() == 2);
  CHECK(*first.find("credit_messages")->get_if<std::uint64_t>() == 3);
  CHECK(*first.find("credit_bytes")->get_if<std::uint64_t>() == 98);
  CHECK(h.ask("consumer.list", wire::Map().set("queue", "b")).find("consumers")->get_if<wire::Array>()->size() == 1);
}

}  // namespace
}  // namespace sluice::engine
