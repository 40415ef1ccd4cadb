// Closing: from anywhere, in any order, twice; nothing waits for itself, and nothing is resolved twice or never.

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "fake_broker.h"
#include "sluice/consumer.h"

namespace sluice::test {
namespace {

ClientOptions impatient() {
  ClientOptions options = quick_options();
  options.close_timeout = Milliseconds(50);
  return options;
}

wire::Deliver deliver_one(std::uint64_t consumer, std::uint64_t lease) {
  wire::Delivery delivery;
  delivery.id = lease;
  delivery.payload = "x";
  return {consumer, lease, 60'000, {delivery}};
}

TEST_CASE("close: waits for confirms, then says BYE") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  auto future = client.publish("jobs", "x");
  std::thread closing([&] { client.close(); });
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 5);
  broker.expect<wire::Bye>();
  closing.join();
  CHECK(future.get().message_id == 5);
}

TEST_CASE("close: undecided publishes fail with closed, each once") {
  FakeBroker broker;
  std::atomic<int> calls{0};
  std::future<Receipt> future;
  {
    Client client(broker.url(), impatient());
    future = client.publish("jobs", "x");
    for (int i = 0; i < 100; ++i) {
      client.publish("jobs", "x", {}, [&](const Receipt* receipt, const ClientError* error) {
        CHECK(receipt == nullptr);
        CHECK(error->code() == kErrorClosed);
        ++calls;
      });
    }
    client.close();
    client.close();
    CHECK(calls == 100);
    CHECK_THROWS_AS(client.publish_nowait("jobs", "y"), ClientError);
    CHECK_THROWS_AS(client.server_info(), ClientError);
    CHECK_THROWS_AS(Consumer(client, "jobs"), ClientError);
  }
  CHECK(calls == 100);
  CHECK_THROWS_AS(future.get(), ClientError);
}

TEST_CASE("close: wakes a publisher that waits for room") {
  FakeBroker broker;
  ClientOptions options = impatient();
  options.unconfirmed_messages_max = 2;
  Client client(broker.url(), options);
  client.publish_nowait("jobs", "1");
  client.publish_nowait("jobs", "2");
  std::promise<int> ended;
  std::thread publishing([&] {
    try {
      client.publish_nowait("jobs", "3");
      ended.set_value(0);
    } catch (const ClientError& error) {
      ended.set_value(error.code());
    }
  });
  client.close();
  CHECK(ended.get_future().get() == kErrorClosed);
  publishing.join();
}

TEST_CASE("close: from inside a publish callback") {
  FakeBroker broker;
  auto client = std::make_unique<Client>(broker.url(), impatient());
  std::promise<void> closed;
  client->publish("jobs", "x", {}, [&](const Receipt*, const ClientError*) {
    client->close();
    closed.set_value();
  });
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 1);
  REQUIRE(closed.get_future().wait_for(kPatience) == std::future_status::ready);
  client.reset();
}

TEST_CASE("close: the client is destroyed from inside its own callback") {
  FakeBroker broker;
  auto client = std::make_unique<Client>(broker.url(), impatient());
  std::promise<void> gone;
  client->publish("jobs", "x", {}, [&](const Receipt*, const ClientError*) {
    client.reset();
    gone.set_value();
  });
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 1);
  REQUIRE(gone.get_future().wait_for(kPatience) == std::future_status::ready);
}

TEST_CASE("close: consumer and client from inside a handler") {
  for (const bool whole_client : {false, true}) {
    CAPTURE(whole_client);
    FakeBroker broker;
    Client client(broker.url(), impatient());
    std::promise<void> closed;
    std::optional<Consumer> consumer;
    std::promise<void> made;
    const std::shared_future<void> ready = made.get_future().share();
    std::thread answering([&] { broker.reply_ok(broker.expect<wire::Consume>()->request); });
    consumer.emplace(client, "jobs", [&](Delivery& delivery) {
      ready.wait();
      delivery.ack();
      if (whole_client) {
        client.close();
      } else {
        consumer->close();
      }
      closed.set_value();
    });
    answering.join();
    made.set_value();
    broker.send(deliver_one(1, 1));
    REQUIRE(closed.get_future().wait_for(kPatience) == std::future_status::ready);
    consumer.reset();
    client.close();
  }
}

TEST_CASE("close: two handlers close the client at the same time") {
  FakeBroker broker;
  Client client(broker.url(), impatient());
  std::atomic<int> inside{0};
  std::atomic<int> closed{0};
  const auto handler = [&](Delivery&) {
    ++inside;
    while (inside < 2) std::this_thread::yield();  // both are in before either closes
    client.close();
    ++closed;
  };
  std::vector<Consumer> consumers;
  for (int i = 0; i < 2; ++i) {
    std::thread answering([&] { broker.reply_ok(broker.expect<wire::Consume>()->request); });
    consumers.emplace_back(client, "jobs", handler);
    answering.join();
  }
  broker.send(deliver_one(1, 1));
  broker.send(deliver_one(2, 2));
  client.on_state(nullptr);
  while (inside < 2) std::this_thread::yield();
  consumers.clear();  // waits for both handlers
  CHECK(closed == 2);
}

TEST_CASE("close: the client goes before its consumers and their deliveries") {
  FakeBroker broker;
  auto client = std::make_unique<Client>(broker.url(), impatient());
  std::thread answering([&] { broker.reply_ok(broker.expect<wire::Consume>()->request); });
  auto consumer = std::make_unique<Consumer>(*client, "jobs");
  answering.join();
  broker.send(deliver_one(1, 1));
  auto delivery = consumer->receive(kPatience);
  REQUIRE(delivery);
  client.reset();
  CHECK_FALSE(consumer->receive());
  consumer.reset();
  CHECK(delivery->payload() == "x");
  delivery->ack();
}

TEST_CASE("close: a hundred times while deliveries and confirms arrive") {
  for (int round = 0; round < 100; ++round) {
    FakeBroker broker;
    std::atomic<int> calls{0};
    {
      ClientOptions options = quick_options();
      options.close_timeout = Milliseconds(2);
      Client client(broker.url(), options);
      std::thread answering([&] { broker.reply_ok(broker.expect<wire::Consume>()->request); });
      const Consumer consumer(client, "jobs", [](Delivery&) {});
      answering.join();
      for (int i = 0; i < 5; ++i) client.publish("jobs", "x", {}, [&](const Receipt*, const ClientError*) { ++calls; });
      broker.confirm(1, 3, 1);
      broker.send(deliver_one(1, 1));
      broker.send(deliver_one(1, 2));
    }
    CHECK(calls == 5);
  }
}

TEST_CASE("connect: nobody there is not_connected, within the time") {
  ClientOptions options = quick_options();
  options.connect_timeout = Milliseconds(100);
  for (const char* const url : {"tcp://127.0.0.1:1", "ipc:///tmp/no-such-socket-of-sluice"}) {
    try {
      const Client client(url, options);
      FAIL("no error");
    } catch (const ClientError& error) {
      CHECK(error.code() == kErrorNotConnected);
      CHECK(std::string(error.what()).find("nobody listens") != std::string::npos);
    }
  }
}

TEST_CASE("connect: a broker that refuses for good is thrown by the constructor") {
  FakeBroker broker;
  broker.answer_hello([](const wire::Hello&, const wire::Welcome&) {
    return std::optional<wire::BrokerFrame>(wire::ErrorFrame{
        {101, "unsupported_protocol", "the broker does not speak this protocol version", false, 0}, std::nullopt});
  });
  try {
    const Client client(broker.url(), quick_options());
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 101);
  }
}

TEST_CASE("connect: bad addresses and options are refused by name") {
  for (const char* const url :
       {"", "http://x", "tcp://", "tcp://host", "tcp://:1", "tcp://host:", "tcp://host:0", "tcp://host:65536",
        "tcp://host:http", "tcp://*:1", "ipc://", "tcp://a b:1", "inproc://x", "127.0.0.1:5570"}) {
    CAPTURE(url);
    try {
      const Client client(url, quick_options());
      FAIL_CHECK("no error");
    } catch (const ClientError& error) {
      CHECK(error.code() == kErrorBadArgument);
    }
  }
  ClientOptions options = quick_options();
  options.batch_messages_max = 0;
  CHECK_THROWS_AS(Client("tcp://127.0.0.1:1", options), ClientError);
}

}  // namespace
}  // namespace sluice::test
