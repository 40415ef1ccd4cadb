// What survives a lost connection: unconfirmed publishes, the producer's identity, consumers and their credit.

#include <atomic>
#include <string>
#include <vector>

#include "fake_broker.h"
#include "sluice/consumer.h"

namespace sluice::test {
namespace {

wire::Delivery delivery(std::uint64_t id, std::string_view payload) {
  wire::Delivery out;
  out.id = id;
  out.payload = payload;
  return out;
}

TEST_CASE("reconnect: what is unconfirmed is sent again, byte for byte, by the same producer") {
  FakeBroker broker;
  ClientOptions options = quick_options();
  options.batch_messages_max = 2;
  Client client(broker.url(), options);
  const std::string producer = broker.expect_hello().producer;
  CHECK(producer.size() == 16);
  client.publish_nowait("jobs", "1");
  broker.expect<wire::Publish>();
  auto second = client.publish("jobs", "2");
  const auto second_frame = broker.expect<wire::Publish>();
  client.publish_nowait("jobs", "3");
  client.publish_nowait("jobs", "4");
  const auto third_frame = broker.expect<wire::Publish>();
  broker.confirm(1, 1, 10);
  broker.send(wire::Confirm{1, {{3, 12, 1}}, {}});  // one of two of its frame
  broker.sync(client);
  broker.stop();
  client.publish_nowait("jobs", "5");
  broker.set_welcome([](wire::Welcome& welcome) { welcome.producer_sequence = 3; });
  broker.start();
  CHECK(broker.expect_hello().producer == producer);
  CHECK(*broker.expect<wire::Publish>().bytes == *second_frame.bytes);
  CHECK(*broker.expect<wire::Publish>().bytes == *third_frame.bytes);
  broker.send(wire::Confirm{4, {{2, 11, 1}, {3, 12, 2}}, {}});
  CHECK(broker.expect<wire::Publish>()->first_sequence == 5);
  broker.confirm(5, 1, 14);
  CHECK(second.get().message_id == 11);
  client.flush(kPatience);
  CHECK(client.confirmed() == 5);
}

TEST_CASE("reconnect: a broker that lost its memory simply gets the unconfirmed again") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  broker.expect_hello();
  client.publish_nowait("jobs", "1");
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 1);
  client.flush(kPatience);
  auto future = client.publish("jobs", "2");
  broker.expect<wire::Publish>();
  broker.stop();
  broker.start();
  CHECK(broker.expect<wire::Publish>()->first_sequence == 2);
  broker.confirm(2, 1, 1);
  CHECK(future.get().message_id == 1);
}

TEST_CASE("reconnect: to a broker that knows less than it confirmed, a new producer goes on") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  const std::string producer = broker.expect_hello().producer;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    client.publish_nowait("jobs", "x");
    broker.expect<wire::Publish>();
    broker.confirm(i, 1, i);
    client.flush(kPatience);
  }
  auto future = client.publish("jobs", "x");
  broker.expect<wire::Publish>();
  broker.stop();
  broker.answer_hello([producer](const wire::Hello& hello, wire::Welcome welcome) {
    welcome.producer_sequence = hello.producer == producer ? 2 : 0;
    return std::optional<wire::BrokerFrame>(welcome);
  });
  broker.start();
  CHECK(broker.expect_hello().producer == producer);
  CHECK(broker.expect_hello().producer != producer);
  CHECK(broker.expect<wire::Publish>()->first_sequence == 4);
  broker.confirm(4, 1, 3);
  CHECK(future.get().message_id == 3);
}

TEST_CASE("reconnect: the resend keeps to the window of the new session") {
  FakeBroker broker;
  ClientOptions options = quick_options();
  options.batch_messages_max = 1;
  Client client(broker.url(), options);
  for (int i = 0; i < 6; ++i) client.publish_nowait("jobs", "x");
  for (int i = 0; i < 6; ++i) broker.expect<wire::Publish>();
  broker.stop();
  broker.set_welcome([](wire::Welcome& welcome) { welcome.publish_messages = 2; });
  broker.start();
  for (std::uint64_t i = 1; i <= 6; i += 2) {
    CHECK(broker.expect<wire::Publish>()->first_sequence == i);
    CHECK(broker.expect<wire::Publish>()->first_sequence == i + 1);
    broker.sync(client);
    CHECK(broker.waiting() == 0);
    broker.confirm(i, 2, i);
  }
  client.flush(kPatience);
}

TEST_CASE("reconnect: hello_required has the client say HELLO on a fresh connection") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  broker.expect_hello();
  broker.send(wire::ErrorFrame{{100, "hello_required", "no session on this connection", true, 0}, std::nullopt});
  broker.expect_hello();
  client.publish_nowait("jobs", "x");
  broker.expect<wire::Publish>();
  broker.confirm(1, 1, 1);
  client.flush(kPatience);
}

TEST_CASE("reconnect: a silent broker is left after three heartbeats, and ours come meanwhile") {
  FakeBroker broker;
  broker.set_welcome([](wire::Welcome& welcome) { welcome.heartbeat_ms = 100; });
  Client client(broker.url(), quick_options());
  broker.expect_hello();
  broker.expect_heartbeat();
  broker.expect_heartbeat();
  broker.expect_hello();
}

TEST_CASE("reconnect: states are told in order") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<ConnectionState> states;
  client.on_state([&](ConnectionState state, const std::string&) {
    const std::lock_guard lock(mutex);
    if (states.empty() || states.back() != state) states.push_back(state);
    changed.notify_all();
  });
  broker.stop();
  broker.start();
  std::unique_lock lock(mutex);
  REQUIRE(changed.wait_for(lock, kPatience,
                           [&] { return !states.empty() && states.back() == ConnectionState::connected; }));
  lock.unlock();
  client.close();
  lock.lock();
  CHECK(states.front() == ConnectionState::disconnected);
  CHECK(std::count(states.begin(), states.end(), ConnectionState::reconnecting) >= 1);
  CHECK(states.back() == ConnectionState::closed);
}

TEST_CASE("reconnect: BYE with an error that a retry cannot mend ends the client") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  auto future = client.publish("jobs", "x");
  broker.expect<wire::Publish>();
  broker.send(wire::Bye{102, "too many malformed frames"});
  CHECK_THROWS_AS(future.get(), ClientError);
  try {
    client.publish_nowait("jobs", "y");
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 102);
  }
  CHECK_THROWS_AS(client.server_info(), ClientError);
}

TEST_CASE("reconnect: gives up after the stated time, and everything fails") {
  FakeBroker broker;
  ClientOptions options = quick_options();
  options.reconnect_give_up = Milliseconds(50);
  Client client(broker.url(), options);
  auto future = client.publish("jobs", "x");
  broker.expect<wire::Publish>();
  broker.stop();
  try {
    future.get();
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == kErrorNotConnected);
  }
}

TEST_CASE("reconnect: a consumer is declared anew with the credit that is not in the user's hands") {
  FakeBroker broker;
  Client client(broker.url(), quick_options());
  std::thread answering([&] { broker.reply_ok(broker.expect<wire::Consume>()->request); });
  Consumer consumer(client, "jobs", {.prefetch = 4, .prefetch_bytes = 1'000, .extend_up_to = Milliseconds(0)});
  answering.join();
  std::atomic<int> stale{0};
  consumer.on_stale([&](std::uint64_t first, std::uint64_t last, const ClientError& why) {
    CHECK(first == 10);
    CHECK(last == 10);
    CHECK(why.code() == 303);
    ++stale;
  });
  broker.send(wire::Deliver{1, 10, 60'000, {delivery(1, "held"), delivery(2, "buffered"), delivery(3, "buffered")}});
  auto held = consumer.receive(kPatience);
  REQUIRE(held);
  CHECK(held->payload() == "held");
  broker.stop();
  broker.start();
  const auto again = broker.expect<wire::Consume>();
  CHECK(again->credit_messages == 3);
  CHECK(again->credit_bytes == 996);
  broker.reply_ok(again->request);
  held->ack();  // too late: only its credit goes out
  const auto settle = broker.expect<wire::Settle>();
  CHECK(settle->settlements.empty());
  REQUIRE(settle->grants.size() == 1);
  CHECK(settle->grants[0] == wire::Grant{again->consumer, 1, 4});
  broker.send(wire::Deliver{1, 20, 60'000, {delivery(2, "fresh")}});
  auto fresh = consumer.receive(kPatience);
  REQUIRE(fresh);
  CHECK(fresh->payload() == "fresh");  // the buffered ones went with their connection
  fresh->ack();
  CHECK(broker.expect<wire::Settle>()->settlements.at(0).first_lease == 20);
  std::thread cancelling([&] { broker.reply_ok(broker.expect<wire::Cancel>()->request); });
  client.close();
  cancelling.join();
  CHECK(stale == 1);
}

}  // namespace
}  // namespace sluice::test
