// Administration against a scripted broker: arguments, results, errors.

#include <future>
#include <string>

#include "fake_broker.h"
#include "sluice/client.h"

namespace sluice::test {
namespace {

struct Fixture {
  FakeBroker broker;
  Client client{broker.url(), quick_options()};
  // Runs `call` while the broker answers its request with `answer(request)`.
  template <class Call, class Answer>
  auto ask(Call call, Answer answer) {
    auto result = std::async(std::launch::async, call);
    const auto request = broker.expect<wire::Request>();
    broker.reply_ok(request->request, answer(*request.operator->()));
    return result.get();
  }
};

TEST_CASE_FIXTURE(Fixture, "request: declare sends only what is set, and returns the whole queue") {
  QueuePolicy policy;
  policy.lease_ms = 5'000;
  policy.backoff.factor = 1.5;
  policy.dead_letter_max = 10;
  bool created = false;
  const QueueInfo info =
      ask([&] { return client.declare_queue("jobs", policy, &created); },
          [](const wire::Request& request) {
            CHECK(request.verb == "queue.declare");
            CHECK(request.arguments == wire::Map()
                                           .set("name", "jobs")
                                           .set("policy", wire::Map()
                                                              .set("lease_ms", std::uint64_t{5'000})
                                                              .set("backoff_factor", 1.5)
                                                              .set("dead_letter_max", std::uint64_t{10})));
            wire::Map queue;
            queue.set("name", "jobs").set("ready", 3).set("bytes", 17).set("dead", 2).set("unknown", 1);
            queue.set("policy", wire::Map().set("lease_ms", 5'000).set("backoff_factor", 2).set("max_attempts", 5));
            queue.set("counters", wire::Map().set("enqueued", 9));
            return wire::Map().set("created", true).set("queue", queue);
          });
  CHECK(created);
  CHECK(info.name == "jobs");
  CHECK(info.ready == 3);
  CHECK(info.bytes == 17);
  CHECK(info.dead == 2);
  CHECK(info.policy.lease_ms == 5'000);
  CHECK(info.policy.backoff.factor == 2.0);
  CHECK(info.policy.max_attempts == 5);
  CHECK(info.counters.at("enqueued") == 9);
}

TEST_CASE_FIXTURE(Fixture, "request: peek returns messages with headers and dead letter") {
  const MessageList list =
      ask([&] { return client.peek("jobs.dlq", 2, 40); },
          [](const wire::Request& request) {
            CHECK(request.arguments == wire::Map().set("name", "jobs.dlq").set("limit", 2).set("after", 40));
            wire::Buffer headers;
            wire::encode(wire::Map().set("k", true), headers);
            wire::Map message;
            message.set("id", 7).set("position", 41).set("state", "ready").set("payload", wire::Bin{"body"});
            message.set("payload_bytes", 4).set("headers", wire::Bin{std::string(headers.view())});
            message.set("error", "boom").set("due_ms", nullptr).set("priority", 9).set("nacks", 5);
            message.set("dead", wire::Map().set("origin", "jobs").set("reason", "attempts").set("nacks", 5));
            return wire::Map().set("messages", wire::Array{message}).set("more", true);
          });
  CHECK(list.more);
  REQUIRE(list.messages.size() == 1);
  const MessageInfo& message = list.messages[0];
  CHECK(message.id == 7);
  CHECK(message.position == 41);
  CHECK(message.payload == "body");
  CHECK(std::get<bool>(message.headers.at("k")));
  CHECK(message.priority == 9);
  CHECK_FALSE(message.due_ms);
  REQUIRE(message.dead);
  CHECK(message.dead->reason == "attempts");
  CHECK(message.dead->counters.at("nacks") == 5);
}

TEST_CASE_FIXTURE(Fixture, "request: the other verbs carry their arguments and results") {
  const auto replayed = ask(
      [&] {
        return client.replay("jobs.dlq", {"other", {1, 2}, "rejected", 5, true});
      },
      [](const wire::Request& request) {
        CHECK(request.verb == "dlq.replay");
        CHECK(request.arguments.size() == 6);
        CHECK(*request.arguments.find("ids") == wire::Value(wire::Array{1, 2}));
        return wire::Map().set("replayed", 2).set("refused", 1);
      });
  CHECK(replayed.replayed == 2);
  CHECK(replayed.refused == 1);
  const auto purged = ask([&] { return client.purge_queue("jobs"); },
                          [](const wire::Request&) { return wire::Map().set("purged", 4).set("leased", 1); });
  CHECK(purged.purged == 4);
  CHECK(purged.leased == 1);
  CHECK(ask([&] { return client.delete_queue("jobs"); },
            [](const wire::Request&) { return wire::Map().set("deleted_messages", 3); }) == 3);
  const auto list =
      ask([&] { return client.list_queues("a", "b", 3); },
          [](const wire::Request& request) {
            CHECK(request.arguments == wire::Map().set("prefix", "a").set("after", "b").set("limit", 3));
            return wire::Map().set("queues", wire::Array{wire::Map().set("name", "abc")}).set("more", false);
          });
  REQUIRE(list.queues.size() == 1);
  CHECK(list.queues[0].name == "abc");
  const auto server = ask([&] { return client.server_info(); },
                          [](const wire::Request&) {
                            return wire::Map().set("version", "0.1.0").set("sync", "memory").set("sessions", 2);
                          });
  CHECK(server.version == "0.1.0");
  CHECK(server.sessions == 2);
}

TEST_CASE_FIXTURE(Fixture, "request: the broker's error is thrown as it is") {
  auto result = std::async(std::launch::async, [&] { return client.queue_info("nope"); });
  const auto request = broker.expect<wire::Request>();
  broker.send(
      wire::Reply{request->request, std::nullopt, wire::ErrorBody{201, "unknown_queue", "no queue 'nope'", false, 0}});
  try {
    result.get();
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 201);
    CHECK(error.name() == "unknown_queue");
    CHECK(std::string(error.what()) == "no queue 'nope'");
    CHECK(error.hint() == "declare it, or publish to it");
  }
}

TEST_CASE("request: no answer is a timeout, and a late answer harms nothing") {
  FakeBroker broker;
  ClientOptions options = quick_options();
  options.request_timeout = Milliseconds(20);
  Client client(broker.url(), options);
  try {
    client.server_info();
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == kErrorTimeout);
  }
  broker.reply_ok(broker.expect<wire::Request>()->request);
  client.publish_nowait("jobs", "x");
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 1);
  client.flush(kPatience);
}

TEST_CASE_FIXTURE(Fixture,
                  "request: sent and lost is connection_lost; made while disconnected, it waits for the connection") {
  auto lost = std::async(std::launch::async, [&] { return client.server_info(); });
  broker.expect<wire::Request>();
  broker.stop();
  try {
    lost.get();
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == kErrorConnectionLost);
  }
  auto waits = std::async(std::launch::async, [&] { return client.server_info(); });
  broker.start();
  const auto request = broker.expect<wire::Request>();
  broker.reply_ok(request->request, wire::Map().set("uptime_ms", 12));
  CHECK(waits.get().uptime_ms == 12);
}

TEST_CASE("request: one over the frame limit is refused before it is sent") {
  FakeBroker broker;
  broker.set_welcome([](wire::Welcome& welcome) { welcome.frame_bytes_max = 1'000; });
  Client client(broker.url(), quick_options());
  ReplayOptions options;
  options.ids.assign(1'000, UINT64_MAX);
  try {
    client.replay("jobs.dlq", options);
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 106);
  }
  broker.sync(client);
  CHECK(broker.waiting() == 0);
}

}  // namespace
}  // namespace sluice::test
