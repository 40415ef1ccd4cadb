#include <doctest/doctest.h>

#include "harness.h"

namespace sluice::engine {
namespace {

void edit(Harness& h, std::string_view queue, wire::Map policy) {
  h.ask("queue.edit", wire::Map().set("name", queue).set("policy", std::move(policy)));
}

TEST_CASE("edit: changes what is given, keeps the rest, and answers with the queue") {
  Harness h;
  h.declare("jobs", wire::Map().set("lease_ms", 500).set("max_attempts", 7));
  const wire::Map queue =
      h.ask("queue.edit", wire::Map().set("name", "jobs").set("policy", wire::Map().set("lease_ms", 900)));
  const wire::Map& policy = *queue.find("policy")->get_if<wire::Map>();
  CHECK(*policy.find("lease_ms")->get_if<std::uint64_t>() == 900);
  CHECK(*policy.find("max_attempts")->get_if<std::uint64_t>() == 7);
  CHECK(h.request("queue.edit", wire::Map().set("name", "nothing")).error->name == "unknown_queue");
  CHECK(h.request("queue.edit", wire::Map().set("name", "jobs").set("policy", wire::Map().set("lease_ms", 1)))
            .error->name == "bad_policy");
}

TEST_CASE("edit: a lowered attempt limit is judged when the running attempt ends") {
  Harness h;
  h.publish(1, "jobs", {"m"});
  h.consume(2, 1, "jobs", 5);
  h.settle(2, wire::Verb::nack, 1, 1, "", 0);
  edit(h, "jobs", wire::Map().set("max_attempts", 1));
  CHECK(h.count("jobs", "leased") == 1);
  h.settle(2, wire::Verb::nack, 2, 2, "", 0);
  CHECK(h.count("jobs", "dead") == 1);
}

TEST_CASE("edit: a lowered limit keeps what is there and refuses what comes") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3"});
  edit(h, "jobs", wire::Map().set("max_messages", 2));
  CHECK(h.count("jobs", "ready") == 3);
  h.publish(1, "jobs", {"4"});
  CHECK(h.told.confirms[1].back().refused.at(0).error.name == "queue_full");
}

TEST_CASE("C22 edit: a lowered bound of dead letters drops the oldest at once") {
  Harness h;
  h.publish(1, "jobs", {"1", "2", "3", "4", "5"});
  h.consume(2, 1, "jobs", 5);
  h.settle(2, wire::Verb::reject, 1, 5);
  edit(h, "jobs", wire::Map().set("dead_letter_max", 3));
  CHECK(h.count("jobs", "dead") == 3);
  CHECK(h.counter("jobs.dlq", "dropped") == 2);
  h.consume(2, 2, "jobs.dlq", 1);
  h.take();
  CHECK(h.told.replies[2].back().result.has_value());
}

TEST_CASE("pause: stops deliveries, not publishes, settlements or requests; resume goes on") {
  Harness h;
  h.publish(1, "jobs", {"1"});
  h.consume(2, 1, "jobs", 5);
  h.take();
  CHECK(*h.ask("queue.pause", wire::Map().set("name", "jobs")).find("paused")->get_if<bool>());
  h.publish(1, "jobs", {"2", "3"});
  h.settle(2, wire::Verb::ack, 1, 1);
  CHECK(h.counter("jobs", "acked") == 1);
  h.consume(3, 1, "jobs", 5);
  CHECK(h.take().empty());
  CHECK(h.count("jobs", "ready") == 2);
  CHECK_FALSE(*h.ask("queue.resume", wire::Map().set("name", "jobs")).find("paused")->get_if<bool>());
  CHECK(h.take_payloads() == std::vector<std::string>{"2", "3"});
  CHECK(h.request("queue.pause", wire::Map().set("name", "nothing")).error->name == "unknown_queue");
}

}  // namespace
}  // namespace sluice::engine
