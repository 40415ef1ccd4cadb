#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

TEST_CASE("declare: is made once, is the same again with the same policy, and conflicts with another") {
  Harness h;
  wire::Map declared =
      h.ask("queue.declare", wire::Map().set("name", "jobs").set("policy", wire::Map().set("lease_ms", 500)));
  CHECK(*declared.find("created")->get_if<bool>());
  declared = h.ask("queue.declare", wire::Map().set("name", "jobs").set("policy", wire::Map().set("lease_ms", 500)));
  CHECK_FALSE(*declared.find("created")->get_if<bool>());
  CHECK(h.request("queue.declare", wire::Map().set("name", "jobs").set("policy", wire::Map().set("lease_ms", 600)))
            .error->name == "policy_conflict");
  CHECK(h.request("queue.declare", wire::Map().set("name", "jobs").set("policy", wire::Map().set("lease_ms", 1)))
            .error->name == "bad_policy");
}

TEST_CASE("requests: an unknown verb, an unknown, missing or wrongly typed argument is named") {
  Harness h;
  CHECK(h.request("queue.explode", {}).error->name == "unknown_verb");
  CHECK(h.request("queue.info", {}).error->text == "name: is missing");
  CHECK(h.request("queue.info", wire::Map().set("name", 5)).error->text == "name: must be text");
  CHECK(h.request("queue.info", wire::Map().set("name", "jobs").set("nmae", "x")).error->text ==
        "nmae: no argument of this verb");
  CHECK(h.request("queue.peek", wire::Map().set("name", "jobs").set("limit", 1'001)).error->text ==
        "limit: must be a whole number from 1 to 1000, is 1001");
  CHECK(h.request("queue.peek", wire::Map().set("name", "jobs").set("limit", -1)).error->name == "bad_field");
  CHECK(h.request("queue.info", wire::Map().set("name", "jobs")).error->name == "unknown_queue");
  CHECK(h.request("queue.info", wire::Map().set("name", "a b")).error->name == "bad_queue_name");
}

TEST_CASE("list: in order of name, by prefix, in pages") {
  Harness h;
  for (const char* name : {"b", "a", "jobs.2", "jobs.1", "jobs.3", "z"}) h.declare(name, {});
  const auto names = [&](wire::Map arguments, bool more) {
    std::vector<std::string> found;
    const wire::Map result = h.ask("queue.list", std::move(arguments));
    for (const wire::Value& queue : *result.find("queues")->get_if<wire::Array>())
      found.push_back(*queue.get_if<wire::Map>()->find("name")->get_if<std::string>());
    CHECK(*result.find("more")->get_if<bool>() == more);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names({}, false) == Names{"a", "b", "jobs.1", "jobs.2", "jobs.3", "z"});
  CHECK(names(wire::Map().set("prefix", "jobs."), false) == Names{"jobs.1", "jobs.2", "jobs.3"});
  CHECK(names(wire::Map().set("prefix", "jobs.").set("limit", 2), true) == Names{"jobs.1", "jobs.2"});
  CHECK(names(wire::Map().set("prefix", "jobs.").set("after", "jobs.2").set("limit", 2), false) == Names{"jobs.3"});
  CHECK(names(wire::Map().set("prefix", "jobs.").set("after", "a"), false) == Names{"jobs.1", "jobs.2", "jobs.3"});
}

TEST_CASE("peek: shows every state in order of position, in pages, and changes nothing") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3"});
  h.publish(1, "jobs", {"4"}, 4, 1'000);
  h.consume(2, 1, "jobs", 1);
  h.take();
  const wire::Map first = h.ask("queue.peek", wire::Map().set("name", "jobs").set("limit", 2));
  const wire::Array& page = *first.find("messages")->get_if<wire::Array>();
  REQUIRE(page.size() == 2);
  CHECK(*first.find("more")->get_if<bool>());
  CHECK(*page[0].get_if<wire::Map>()->find("state")->get_if<std::string>() == "leased");
  const std::uint64_t position = *page[1].get_if<wire::Map>()->find("position")->get_if<std::uint64_t>();
  const wire::Map rest = h.ask("queue.peek", wire::Map().set("name", "jobs").set("after", position));
  const wire::Array& last = *rest.find("messages")->get_if<wire::Array>();
  REQUIRE(last.size() == 2);
  CHECK_FALSE(*rest.find("more")->get_if<bool>());
  CHECK(*last[1].get_if<wire::Map>()->find("state")->get_if<std::string>() == "delayed");
  CHECK(*last[1].get_if<wire::Map>()->find("due_ms")->get_if<std::uint64_t>() == h.now.wall_ms + 1'000);
  CHECK(h.take().empty());
  CHECK(h.counter("jobs", "delivered") == 1);
}

TEST_CASE("C39 purge: takes what is not leased and says so; the second time 0; a leased message can still be acked") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3"});
  h.publish(1, "jobs", {"4"}, 4, 1'000);
  h.consume(2, 1, "jobs", 1);
  wire::Map result = h.ask("queue.purge", wire::Map().set("name", "jobs"));
  CHECK(*result.find("purged")->get_if<std::uint64_t>() == 3);
  CHECK(*result.find("leased")->get_if<std::uint64_t>() == 1);
  result = h.ask("queue.purge", wire::Map().set("name", "jobs"));
  CHECK(*result.find("purged")->get_if<std::uint64_t>() == 0);
  h.settle(2, wire::Verb::ack, 1, 1);
  CHECK(h.counter("jobs", "acked") == 1);
  CHECK(h.request("queue.purge", wire::Map().set("name", "nothing")).error->name == "unknown_queue");
}

TEST_CASE("delete: ends messages, leases and consumers, tells their sessions, and leaves the others alone") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3"});
  h.publish(1, "other", {"x"});
  h.consume(2, 1, "jobs", 2);
  h.consume(2, 2, "other", 1);
  const wire::Map result = h.ask("queue.delete", wire::Map().set("name", "jobs"));
  CHECK(*result.find("deleted_messages")->get_if<std::uint64_t>() == 3);
  REQUIRE(h.told.lost[2].size() == 1);
  CHECK(h.told.lost[2][0].code == static_cast<std::uint64_t>(ErrorCode::queue_deleted));
  REQUIRE(h.told.consumers_closed[2].size() == 1);
  CHECK(h.told.consumers_closed[2][0].consumer == 1);
  h.settle(2, wire::Verb::ack, 1, 2);
  CHECK(h.told.settles[2].at(0).exceptions.at(0).last_lease == 2);
  h.consume(2, 1, "jobs", 2);  // the number is free again
  CHECK(h.told.replies[2].back().result.has_value());
  CHECK(h.count("other", "leased") == 1);
}

TEST_CASE("delete: broker totals do not fall") {
  Harness h;
  h.publish(1, "jobs", {"1", "2"});
  h.ask("queue.delete", wire::Map().set("name", "jobs"));
  const wire::Map totals = h.engine.totals();
  const wire::Map& counters = *totals.find("counters")->get_if<wire::Map>();
  CHECK(*counters.find("enqueued")->get_if<std::uint64_t>() == 2);
  CHECK(*counters.find("purged")->get_if<std::uint64_t>() == 2);
  CHECK(*totals.find("ready")->get_if<std::uint64_t>() == 0);
}

}  // namespace
}  // namespace sluice::engine
