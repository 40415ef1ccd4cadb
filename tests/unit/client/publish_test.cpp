// The publishing half of the client against a scripted broker: batches, confirms, refusals, limits.

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "fake_broker.h"
#include "sluice/client.h"

namespace sluice::test {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;

wire::ErrorBody queue_full() { return {205, "queue_full", "the queue is at its limit", true, 250}; }

TEST_CASE("publish: a lone message leaves at once, and its future gets the id") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  auto future = client.publish("jobs", "hello");
  const auto frame = broker.expect<wire::Publish>();
  CHECK(frame->queue == "jobs");
  CHECK(frame->first_sequence == 1);
  REQUIRE(frame->messages.size() == 1);
  CHECK(frame->messages[0].payload == "hello");
  CHECK(client.unconfirmed() == 1);
  broker.confirm(1, 1, 77);
  CHECK(future.get().message_id == 77);
  client.flush(kPatience);
  CHECK(client.unconfirmed() == 0);
  CHECK(client.confirmed() == 1);
}

TEST_CASE("publish: headers, priority and delay arrive as given") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  PublishOptions options;
  options.headers = {{"traceparent", std::string("00-ab")}, {"n", std::int64_t{-3}}};
  options.priority = 9;
  options.delay = Milliseconds(1'500);
  client.publish_nowait("jobs", "", options);
  const auto frame = broker.expect<wire::Publish>();
  const wire::PublishMessage& message = frame->messages.at(0);
  CHECK(message.priority == 9);
  CHECK(message.delay_ms == 1'500);
  const auto map = wire::decode_map(message.headers);
  REQUIRE(map);
  CHECK(*map->find("traceparent") == wire::Value("00-ab"));
  CHECK(*map->find("n") == wire::Value(-3));
  broker.confirm(1, 1, 1);
  client.flush(kPatience);
}

TEST_CASE("publish: while two frames are under way the rest is joined, and leaves with the next confirm") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  client.publish_nowait("jobs", "a");
  CHECK(broker.expect<wire::Publish>()->messages.size() == 1);
  client.publish_nowait("jobs", "b");
  CHECK(broker.expect<wire::Publish>()->messages.size() == 1);
  for (int i = 0; i < 10; ++i) client.publish_nowait("jobs", std::to_string(i));
  broker.sync(client);
  CHECK(broker.waiting() == 0);
  broker.confirm(1, 1, 1);
  const auto joined = broker.expect<wire::Publish>();
  CHECK(joined->first_sequence == 3);
  REQUIRE(joined->messages.size() == 10);
  CHECK(joined->messages[9].payload == "9");
  broker.confirm(2, 11, 2);
  client.flush(kPatience);
  CHECK(client.confirmed() == 12);
}

TEST_CASE("publish: a full batch does not wait for a confirm") {
  FakeBroker broker;
  ClientOptions options = quick_options();
  options.batch_messages_max = 4;
  Client client(broker.url(), options);
  client.publish_nowait("jobs", "a");
  broker.expect<wire::Publish>();
  client.publish_nowait("jobs", "b");
  broker.expect<wire::Publish>();
  for (int i = 0; i < 8; ++i) client.publish_nowait("jobs", "x");
  CHECK(broker.expect<wire::Publish>()->messages.size() == 4);
  CHECK(broker.expect<wire::Publish>()->messages.size() == 4);
  broker.confirm(1, 10, 1);
  client.flush(kPatience);
}

TEST_CASE("publish: without batching every message is its own frame, and none waits for a confirm") {
  FakeBroker broker;
  ClientOptions options = quick_options();
  options.batch_messages_max = 1;
  Client client(broker.url(), options);
  for (int i = 0; i < 100; ++i) client.publish_nowait("jobs", "x");
  for (std::uint64_t i = 1; i <= 100; ++i) {
    const auto frame = broker.expect<wire::Publish>();
    CHECK(frame->first_sequence == i);
    CHECK(frame->messages.size() == 1);
  }
  broker.confirm(1, 100, 1);
  client.flush(kPatience);
}

TEST_CASE("publish: another queue closes the batch, and sequences go on in the order of the calls") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  client.publish_nowait("a", "1");
  broker.expect<wire::Publish>();
  client.publish_nowait("a", "2");
  broker.expect<wire::Publish>();
  client.publish_nowait("a", "3");
  client.publish_nowait("b", "4");
  client.publish_nowait("a", "5");
  const auto third = broker.expect<wire::Publish>();
  CHECK(third->queue == "a");
  CHECK(third->first_sequence == 3);
  const auto fourth = broker.expect<wire::Publish>();
  CHECK(fourth->queue == "b");
  CHECK(fourth->first_sequence == 4);
  broker.confirm(1, 4, 1);
  CHECK(broker.expect<wire::Publish>()->first_sequence == 5);
  broker.confirm(5, 1, 5);
  client.flush(kPatience);
}

TEST_CASE("publish: a refusal reaches the future or callback that asked, and flush only for the others") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  auto future = client.publish("jobs", "a");
  broker.expect<wire::Publish>();
  broker.send(wire::Confirm{1, {}, {{1, 1, queue_full()}}});
  try {
    future.get();
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 205);
    CHECK(error.name() == "queue_full");
    CHECK(error.retry());
    CHECK(error.retry_after_ms() == 250);
    CHECK(error.hint() == "wait for consumers, or raise max_messages or max_bytes");
  }
  CHECK_NOTHROW(client.flush(kPatience));
  std::promise<int> called;
  client.publish("jobs", "b", {}, [&](const Receipt* receipt, const ClientError* error) {
    CHECK(receipt == nullptr);
    called.set_value(error->code());
  });
  broker.expect<wire::Publish>();
  broker.send(wire::Confirm{2, {}, {{2, 1, queue_full()}}});
  CHECK(called.get_future().get() == 205);
  CHECK_NOTHROW(client.flush(kPatience));
  client.publish_nowait("jobs", "c");
  broker.expect<wire::Publish>();
  broker.send(wire::Confirm{3, {}, {{3, 1, queue_full()}}});
  CHECK_THROWS_AS(client.flush(kPatience), ClientError);
  CHECK_NOTHROW(client.flush(kPatience));  // told once
  CHECK(client.confirmed() == 0);
}

TEST_CASE("publish: confirms out of order, in parts and twice decide each message once") {
  FakeBroker broker;
  ClientOptions options = quick_options();
  options.batch_messages_max = 4;
  Client client(broker.url(), options);
  std::atomic<int> calls{0};
  std::vector<std::uint64_t> ids(13);
  const auto publish = [&](std::size_t i) {
    client.publish("jobs", "x", {}, [&, i](const Receipt* receipt, const ClientError*) {
      ids[i] = receipt == nullptr ? 999 : receipt->message_id;
      ++calls;
    });
  };
  publish(0);
  broker.expect<wire::Publish>();
  publish(1);
  broker.expect<wire::Publish>();
  for (std::size_t i = 2; i < 10; ++i) publish(i);
  broker.expect<wire::Publish>();                                        // 3 to 6
  broker.expect<wire::Publish>();                                        // 7 to 10
  broker.send(wire::Confirm{0, {{5, 105, 4}}, {{4, 1, queue_full()}}});  // 5 to 8, over a border
  broker.send(wire::Confirm{0, {{5, 105, 4}, {3, 103, 1}}, {}});
  broker.send(wire::Confirm{10, {{1, 101, 2}, {9, 109, 2}, {10, 110, 1}}, {{4, 1, queue_full()}}});
  client.flush(kPatience);
  client.close();  // after it every callback has run
  CHECK(calls == 10);
  CHECK(ids == std::vector<std::uint64_t>{101, 102, 103, 999, 105, 106, 107, 108, 109, 110, 0, 0, 0});
  CHECK(client.confirmed() == 9);
}

TEST_CASE("publish: blocks at the unconfirmed limit, and goes on with a confirm") {
  FakeBroker broker;
  broker.set_welcome(
      [](wire::Welcome& welcome) { welcome.publish_messages = 5; });  // the broker's window is smaller than the option
  Client client(broker.url(), quick_options());
  client.on_state(
      [](ConnectionState state, const std::string& why) { CHECK_MESSAGE(state == ConnectionState::closed, why); });
  std::atomic<int> published{0};
  std::thread publishing([&] {
    for (int i = 0; i < 12; ++i) {
      client.publish_nowait("jobs", "x");
      ++published;
    }
  });
  while (client.unconfirmed() < 5) std::this_thread::yield();
  broker.sync(client);
  CHECK(published <= 5);
  CHECK(client.unconfirmed() == 5);
  std::uint64_t got = 0;
  std::uint64_t confirmed = 0;
  while (got < 12) {
    got += broker.expect<wire::Publish>()->messages.size();
    CHECK(got - confirmed <= 5);
    broker.confirm(confirmed + 1, got - confirmed, confirmed + 1);
    confirmed = got;
  }
  publishing.join();
  client.flush(kPatience);
  CHECK(client.confirmed() == 12);
}

TEST_CASE("publish: a frame over the limit is refused before it is sent, one of exactly the limit is not") {
  FakeBroker broker;
  broker.set_welcome([](wire::Welcome& welcome) { welcome.frame_bytes_max = kMiB; });
  Client client(broker.url(), quick_options());
  client.publish_nowait("jobs", std::string(kMiB - 200, 'x'));
  const std::size_t overhead = broker.expect<wire::Publish>().bytes->size() - (kMiB - 200);
  broker.confirm(1, 1, 1);
  client.flush(kPatience);
  try {
    client.publish_nowait("jobs", std::string(kMiB - overhead + 1, 'x'));
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 106);
  }
  client.publish_nowait("jobs", std::string(kMiB - overhead, 'x'));
  CHECK(broker.expect<wire::Publish>().bytes->size() == kMiB);
  broker.confirm(2, 1, 2);
  client.flush(kPatience);
  CHECK(client.confirmed() == 2);
}

TEST_CASE("publish: bad arguments are refused by name before anything is sent") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  const auto code_of = [&](std::string_view queue, const PublishOptions& options) {
    try {
      client.publish_nowait(queue, "x", options);
    } catch (const ClientError& error) {
      return error.code();
    }
    return 0;
  };
  for (const std::string& name :
       {std::string(), std::string(256, 'a'), std::string("-a"), std::string(".a"), std::string("a/b"),
        std::string("a\nb"), std::string("a\0b", 3), std::string("\xff\xfe"), std::string("a b")}) {
    CHECK(code_of(name, {}) == 200);
  }
  PublishOptions bad;
  bad.priority = 10;
  CHECK(code_of("jobs", bad) == kErrorBadArgument);
  bad = {};
  bad.priority = -1;
  CHECK(code_of("jobs", bad) == kErrorBadArgument);
  bad = {};
  for (const std::int64_t delay : {std::int64_t{-1}, std::int64_t{315'360'000'001}, INT64_MAX, INT64_MIN}) {
    bad.delay = Milliseconds(delay);
    CHECK(code_of("jobs", bad) == kErrorBadArgument);
  }
  bad = {};
  bad.encoded_headers = "\x93\x01\x02\x03";
  CHECK(code_of("jobs", bad) == 207);
  bad = {};
  bad.headers["big"] = std::string(17'000, 'x');
  CHECK(code_of("jobs", bad) == 206);
  broker.sync(client);
  CHECK(broker.waiting() == 0);
  CHECK(client.unconfirmed() == 0);
  CHECK(code_of(std::string(255, 'a'), {}) == 0);  // the connection is as it was
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 1);
  client.flush(kPatience);
}

TEST_CASE("publish: flush times out by name while the broker is silent") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  client.publish_nowait("jobs", "x");
  try {
    client.flush(Milliseconds(20));
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == kErrorTimeout);
  }
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 1);
  CHECK_NOTHROW(client.flush(kPatience));
}

}  // namespace
}  // namespace sluice::test
