// Topics, times to live and deduplication keys against a scripted broker: what publish and consume send, and refuse.

#include <future>
#include <string>
#include <thread>

#include "fake_broker.h"
#include "sluice/consumer.h"

namespace sluice::test {
namespace {

struct Fixture {
  FakeBroker broker;
  Client client{broker.url(), quick_options()};

  PublishOptions to_topic() {
    PublishOptions options;
    options.to_topic = true;
    return options;
  }
  // The library's answer to a publish that is refused, or 0.
  int code_of(std::string_view target, const PublishOptions& options) {
    try {
      client.publish_nowait(target, "x", options);
    } catch (const ClientError& error) {
      return error.code();
    }
    return 0;
  }
  int code_of_consume(std::string_view queue, const ConsumeOptions& options) {
    try {
      const Consumer consumer(client, queue, options);
    } catch (const ClientError& error) {
      return error.code();
    }
    return 0;
  }
  // Closes while the broker answers.
  void close(Consumer& consumer) {
    std::thread closing([&] { consumer.close(); });
    broker.reply_ok(broker.expect<wire::Cancel>()->request);
    closing.join();
  }
};

const std::string kBadWords[] = {"",
                                 ".",
                                 "a.",
                                 ".a",
                                 "a..b",
                                 "a b",
                                 "a/b",
                                 "a\n",
                                 "\xc3\xa4",
                                 "a\xff",
                                 std::string(256, 'a'),
                                 std::string("a\0b", 3)};

TEST_CASE_FIXTURE(Fixture, "topic: a publish to a topic is a PUBLISH of kind 1, and its no_route reaches the future") {
  auto routed = client.publish("orders.eu.paid", "x", to_topic());
  const auto frame = broker.expect<wire::Publish>();
  CHECK(frame->kind == wire::PublishKind::topic);
  CHECK(frame->queue == "orders.eu.paid");
  CHECK(frame->first_sequence == 1);
  REQUIRE(frame->messages.size() == 1);
  CHECK(frame->messages[0].payload == "x");
  broker.confirm(1, 1, 5);
  CHECK(routed.get().message_id == 5);
  auto refused = client.publish("nobody", "x", to_topic());
  broker.expect<wire::Publish>();
  broker.send(wire::Confirm{2, {}, {{2, 1, {210, "no_route", "no queue is bound to a pattern of nobody", false, 0}}}});
  try {
    refused.get();
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 210);
    CHECK(error.name() == "no_route");
    CHECK_FALSE(error.retry());
    CHECK(error.hint() == "bind a queue first; the message was not kept");
  }
}

TEST_CASE_FIXTURE(Fixture, "topic: a batch holds one target of one kind") {
  client.publish_nowait("a", "1");
  broker.expect<wire::Publish>();
  client.publish_nowait("a", "2", to_topic());
  broker.expect<wire::Publish>();
  // Two frames are under way: from here on they would be joined.
  client.publish_nowait("a", "3", to_topic());
  client.publish_nowait("a", "4", to_topic());
  client.publish_nowait("a", "5");
  client.publish_nowait("b", "6", to_topic());
  client.publish_nowait("b", "7", to_topic());
  broker.sync(client);
  broker.confirm(1, 2, 1);
  const auto topic = broker.expect<wire::Publish>();
  CHECK(topic->kind == wire::PublishKind::topic);
  CHECK(topic->first_sequence == 3);
  CHECK(topic->messages.size() == 2);
  const auto queue = broker.expect<wire::Publish>();
  CHECK(queue->kind == wire::PublishKind::queue);
  CHECK(queue->first_sequence == 5);
  CHECK(queue->messages.size() == 1);
  broker.confirm(3, 3, 3);
  const auto other = broker.expect<wire::Publish>();
  CHECK(other->kind == wire::PublishKind::topic);
  CHECK(other->queue == "b");
  CHECK(other->messages.size() == 2);
  broker.confirm(6, 2, 6);
  client.flush(kPatience);
}

TEST_CASE_FIXTURE(Fixture, "topic: what is unconfirmed is sent to the topic again after a reconnect") {
  client.publish_nowait("a.b", "1", to_topic());
  const auto before = broker.expect<wire::Publish>();
  broker.stop();
  broker.start();
  const auto after = broker.expect<wire::Publish>();
  CHECK(after->kind == wire::PublishKind::topic);
  CHECK(*after.bytes == *before.bytes);
  broker.confirm(1, 1, 1);
  client.flush(kPatience);
}

TEST_CASE_FIXTURE(Fixture, "topic: what is none is refused before anything is sent") {
  for (const std::string& topic : kBadWords) CHECK_MESSAGE(code_of(topic, to_topic()) == 211, topic);
  for (const std::string topic : {"*", "a.*", "#", "a.#", "a*", "a#.b"}) {
    CHECK_MESSAGE(code_of(topic, to_topic()) == 211, topic);
  }
  broker.sync(client);
  CHECK(broker.waiting() == 0);
  CHECK(client.unconfirmed() == 0);
  // A word may begin with what a queue's name may not; 255 bytes are allowed.
  for (const std::string& topic : {std::string("-a.:b.@"), std::string(255, 'a'), std::string("A-Z.a_z.0:9@")}) {
    CHECK_MESSAGE(code_of(topic, to_topic()) == 0, topic);
    const auto frame = broker.expect<wire::Publish>();
    CHECK(frame->queue == topic);
    broker.confirm(frame->first_sequence, 1, 1);
    client.flush(kPatience);
  }
}

TEST_CASE_FIXTURE(Fixture, "publish: ttl and deduplication key arrive as given, and are absent if not") {
  const std::string key = "order-\xc3\xbc" + std::string(247, 'k');
  REQUIRE(key.size() == 255);
  PublishOptions options;
  options.ttl = Milliseconds(315'360'000'000);
  options.dedup_key = key;
  client.publish_nowait("jobs", "x", options);
  const auto frame = broker.expect<wire::Publish>();
  CHECK(frame->kind == wire::PublishKind::queue);
  CHECK(frame->messages.at(0).ttl_ms == 315'360'000'000);
  CHECK(frame->messages.at(0).dedup_key == key);
  options = {};
  options.ttl = Milliseconds(1);
  client.publish_nowait("jobs", "x", options);
  const auto least = broker.expect<wire::Publish>();
  CHECK(least->messages.at(0).ttl_ms == 1);
  CHECK(least->messages.at(0).dedup_key.empty());
  broker.confirm(1, 2, 1);
  client.flush(kPatience);
}

TEST_CASE_FIXTURE(Fixture, "publish: a bad ttl or deduplication key is refused before anything is sent") {
  PublishOptions bad;
  for (const std::int64_t ttl :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{315'360'000'001}, INT64_MAX, INT64_MIN}) {
    bad.ttl = Milliseconds(ttl);
    CHECK(code_of("jobs", bad) == kErrorBadArgument);
  }
  const std::string long_key(256, 'k');
  for (const std::string_view key : {std::string_view(long_key), std::string_view("a\xff"), std::string_view("\xc3")}) {
    bad = {};
    bad.dedup_key = key;
    CHECK(code_of("jobs", bad) == kErrorBadArgument);
  }
  broker.sync(client);
  CHECK(broker.waiting() == 0);
  CHECK(client.unconfirmed() == 0);
}

TEST_CASE_FIXTURE(Fixture, "publish: dedup_limit of the broker is an error that may be tried again") {
  PublishOptions options;
  options.dedup_key = "k";
  auto future = client.publish("jobs", "x", options);
  broker.expect<wire::Publish>();
  broker.send(wire::Confirm{1, {}, {{1, 1, {212, "dedup_limit", "", true, 0}}}});
  try {
    future.get();
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 212);
    CHECK(error.retry());
  }
}

TEST_CASE("publish: a frame with every option and long texts is at most the limit, alone and in a batch") {
  constexpr std::size_t kFrameBytesMax = 2'000;
  FakeBroker broker;
  broker.set_welcome([](wire::Welcome& welcome) { welcome.frame_bytes_max = kFrameBytesMax; });
  Client client(broker.url(), quick_options());
  const std::string topic(255, 't');
  const std::string key(255, 'k');
  PublishOptions options;
  options.to_topic = true;
  options.priority = 9;
  options.delay = options.ttl.emplace(315'360'000'000);
  options.dedup_key = key;
  options.headers["h"] = std::string(100, 'h');
  const auto frame_bytes = [&](std::size_t payload_bytes) {
    client.publish_nowait(topic, std::string(payload_bytes, 'x'), options);
    const auto frame = broker.expect<wire::Publish>();
    broker.confirm(frame->first_sequence, 1, 1);
    client.flush(kPatience);
    return frame.bytes->size();
  };
  const std::size_t most = kFrameBytesMax - (frame_bytes(1'000) - 1'000);
  CHECK(frame_bytes(most) == kFrameBytesMax);
  try {
    client.publish_nowait(topic, std::string(most + 1, 'x'), options);
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 106);
  }
  std::uint64_t published = 0;
  for (std::size_t payload_bytes = 0; payload_bytes < 300; ++payload_bytes, ++published) {
    client.publish_nowait(topic, std::string(payload_bytes, 'x'), options);
  }
  std::uint64_t joined = 0;
  for (std::uint64_t got = 0; got < published;) {
    const auto frame = broker.expect<wire::Publish>();
    CHECK(frame.bytes->size() <= kFrameBytesMax);
    got += frame->messages.size();
    if (frame->messages.size() > 1) ++joined;
    broker.confirm(frame->first_sequence, frame->messages.size(), 1);
  }
  CHECK(joined > 0);
  client.flush(kPatience);
}

TEST_CASE_FIXTURE(Fixture, "topic: a consumer of a topic is declared without a queue, and so again after a reconnect") {
  ConsumeOptions options;
  options.prefetch = 7;
  {
    const std::string pattern = "orders.*.#";  // need not outlive the options
    options.topic = pattern;
  }
  options.policy.overflow = "drop_oldest";
  options.policy.max_messages = 1'000;
  const auto answer = [&] {
    const auto consume = broker.expect<wire::Consume>();
    CHECK(consume->queue.empty());
    CHECK(consume->topic == "orders.*.#");
    CHECK(consume->policy == wire::Map().set("max_messages", std::uint64_t{1'000}).set("overflow", "drop_oldest"));
    CHECK(consume->credit_messages == 7);
    broker.reply_ok(consume->request);
    return consume->consumer;
  };
  std::thread answering(answer);
  Consumer consumer(client, "", options);
  answering.join();
  broker.stop();
  broker.start();
  const std::uint64_t number = answer();
  wire::Delivery delivery;
  delivery.id = 9;
  delivery.payload = "paid";
  broker.send(wire::Deliver{number, 1, 60'000, {delivery}});
  auto received = consumer.receive(kPatience);
  REQUIRE(received);
  CHECK(received->payload() == "paid");
  received->ack();
  broker.expect<wire::Settle>();
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "topic: a consumer of a topic needs no policy, and the broker's error is thrown") {
  ConsumeOptions options;
  options.topic = "#";
  std::thread answering([&] {
    const auto consume = broker.expect<wire::Consume>();
    CHECK(consume->topic == "#");
    CHECK(consume->policy.empty());
    broker.send(wire::Reply{consume->request, std::nullopt, wire::ErrorBody{204, "queue_limit", "", true, 0}});
  });
  CHECK(code_of_consume("", options) == 204);
  answering.join();
}

TEST_CASE_FIXTURE(Fixture,
                  "topic: a consumer is refused locally with a bad pattern, both targets, or a policy of no queue") {
  ConsumeOptions options;
  for (const std::string& pattern : kBadWords) {
    if (pattern.empty()) continue;
    options.topic = pattern;
    CHECK_MESSAGE(code_of_consume("", options) == 211, pattern);
  }
  for (const std::string pattern : {"a*", "**", "#.a", "#b", "a.#.#", "*.#x"}) {
    options.topic = pattern;
    CHECK_MESSAGE(code_of_consume("", options) == 211, pattern);
  }
  options.topic = "a.*";
  CHECK(code_of_consume("jobs", options) == kErrorBadArgument);
  options = {};
  CHECK(code_of_consume("", options) == 200);
  options.policy.ttl_ms = 0;
  CHECK(code_of_consume("jobs", options) == kErrorBadArgument);
  broker.sync(client);
  CHECK(broker.waiting() == 0);
}

}  // namespace
}  // namespace sluice::test
