// The consuming half of the client against a scripted broker: credit, settlements, leases.

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "fake_broker.h"
#include "sluice/consumer.h"

namespace sluice::test {
namespace {

constexpr std::uint64_t kLeaseMs = 60'000;

wire::Deliver deliver(std::uint64_t first_lease, const std::vector<std::string>& payloads, std::uint64_t consumer = 1,
                      std::uint64_t lease_ms = kLeaseMs) {
  wire::Deliver frame{consumer, first_lease, lease_ms, {}};
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    wire::Delivery delivery;
    delivery.id = first_lease + i + 1'000;
    delivery.payload = payloads[i];
    frame.deliveries.push_back(delivery);
  }
  return frame;
}

// What all SETTLE frames until now amount to.
struct Settled {
  std::vector<wire::Settlement> settlements;
  std::uint64_t leases = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::size_t frames = 0;
  std::vector<std::string> reasons;

  void add(const Received<wire::Settle>& settle) {
    ++frames;
    for (const wire::Settlement& settlement : settle->settlements) {
      settlements.push_back(settlement);
      reasons.emplace_back(settlement.reason);
      leases += settlement.last_lease - settlement.first_lease + 1;
    }
    for (const wire::Grant& grant : settle->grants) {
      messages += grant.messages;
      bytes += grant.bytes;
    }
  }
};

struct Fixture {
  FakeBroker broker;
  std::optional<Client> client;
  Fixture() { client.emplace(broker.url(), quick_options()); }
  // Answers the next CONSUME while `make` waits for it.
  template <class Make>
  auto declare(Make make) {
    std::thread answering([&] {
      const auto consume = broker.expect<wire::Consume>();
      broker.reply_ok(consume->request);
    });
    auto consumer = make();
    answering.join();
    return consumer;
  }
  Consumer pull(const ConsumeOptions& options = {}) {
    return declare([&] { return Consumer(*client, "jobs", options); });
  }
  Consumer handle(Consumer::Handler handler, const ConsumeOptions& options = {}) {
    return declare([&] { return Consumer(*client, "jobs", std::move(handler), options); });
  }
  // Closes what there is, while the broker answers each CANCEL; what else comes is collected.
  template <class Close>
  Settled while_closing(Close close) {
    Settled settled;
    bool cancelled = false;
    const auto take = [&](const Received<wire::ClientFrame>& next) {
      if (const auto* const cancel = std::get_if<wire::Cancel>(&next.frame)) {
        broker.reply_ok(cancel->request);
        cancelled = true;
      } else if (const auto* const settle = std::get_if<wire::Settle>(&next.frame)) {
        settled.add({next.bytes, *settle});
      }
    };
    std::thread closing(close);
    while (!cancelled) broker.next(take);
    closing.join();
    broker.sync(*client);
    while (broker.waiting() != 0) broker.next(take);
    return settled;
  }
  void close(Consumer& consumer) {
    while_closing([&] { consumer.close(); });
  }
};

TEST_CASE_FIXTURE(Fixture, "consume: CONSUME states the whole prefetch as credit") {
  std::thread answering([&] {
    const auto consume = broker.expect<wire::Consume>();
    CHECK(consume->queue == "jobs");
    CHECK(consume->credit_messages == 7);
    CHECK(consume->credit_bytes == 4'096);
    broker.reply_ok(consume->request);
  });
  Consumer consumer(*client, "jobs", {.prefetch = 7, .prefetch_bytes = 4'096, .extend_up_to = Milliseconds(0)});
  answering.join();
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: a delivery carries everything that the frame says") {
  Consumer consumer = pull();
  wire::Buffer headers;
  wire::encode(wire::Map().set("k", "v").set("n", std::uint64_t{3}), headers);
  wire::Buffer dead;
  wire::encode(
      wire::Map().set("origin", "jobs").set("reason", "rejected").set("error", "boom").set("nacks", std::uint64_t{2}),
      dead);
  wire::Delivery content;
  content.id = 5;
  content.count = 3;
  content.payload = "body";
  content.headers = headers.view();
  content.priority = 7;
  content.attempts = 2;
  content.dead = dead.view();
  broker.send(wire::Deliver{1, 40, kLeaseMs, {content}});
  auto delivery = consumer.receive(kPatience);
  REQUIRE(delivery);
  CHECK(delivery->id() == 5);
  CHECK(delivery->lease() == 40);
  CHECK(delivery->count() == 3);
  CHECK(delivery->attempts() == 2);
  CHECK(delivery->priority() == 7);
  CHECK(delivery->payload() == "body");
  CHECK(delivery->encoded_headers() == headers.view());
  CHECK(std::get<std::string>(delivery->headers().at("k")) == "v");
  CHECK(std::get<std::uint64_t>(delivery->headers().at("n")) == 3);
  REQUIRE(delivery->dead());
  CHECK(delivery->dead()->origin == "jobs");
  CHECK(delivery->dead()->error == "boom");
  CHECK(delivery->dead()->counters.at("nacks") == 2);
  CHECK(delivery->lease_left() > Milliseconds(kLeaseMs / 2));
  CHECK(delivery->lease_left() <= Milliseconds(kLeaseMs));
  delivery->ack();
  CHECK(delivery->settled());
  delivery->ack();  // once more: nothing
  Settled settled;
  settled.add(broker.expect<wire::Settle>());
  CHECK(settled.leases == 1);
  CHECK(settled.messages == 1);
  CHECK(settled.bytes == 4 + headers.size());
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: acks are joined into ranges, and every credit comes back exactly once") {
  Consumer consumer = pull({.prefetch = 100, .prefetch_bytes = 1'000'000, .extend_up_to = Milliseconds(0)});
  broker.send(deliver(1, std::vector<std::string>(60, "abc")));
  broker.send(deliver(61, std::vector<std::string>(40, "abc")));
  for (int i = 0; i < 100; ++i) {
    auto delivery = consumer.receive(kPatience);
    REQUIRE(delivery);
    delivery->ack();
  }
  Settled settled;
  while (settled.leases < 100) settled.add(broker.expect<wire::Settle>());
  CHECK(settled.leases == 100);
  CHECK(settled.messages == 100);
  CHECK(settled.bytes == 300);
  CHECK(settled.settlements.size() == settled.frames);  // one range a frame
  std::uint64_t next = 1;
  for (const wire::Settlement& settlement : settled.settlements) {
    CHECK(settlement.verb == wire::Verb::ack);
    CHECK(settlement.first_lease == next);
    next = settlement.last_lease + 1;
  }
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: an ack leaves soon although more is buffered") {
  Consumer consumer = pull();
  broker.send(deliver(1, {"a", "b", "c"}));
  auto first = consumer.receive(kPatience);
  first->ack();
  const auto settle = broker.expect<wire::Settle>();
  REQUIRE(settle->settlements.size() == 1);
  CHECK(settle->settlements[0].last_lease == 1);
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: nack, release, reject and extend say what was meant") {
  Consumer consumer = pull();
  broker.send(deliver(1, {"a", "b", "c", "d"}));
  Settled settled;
  auto a = consumer.receive(kPatience);
  a->nack("no luck", Milliseconds(250));
  auto b = consumer.receive(kPatience);
  b->release();
  auto c = consumer.receive(kPatience);
  c->reject("bad\xff");
  auto d = consumer.receive(kPatience);
  d->extend(Milliseconds(120'000));
  CHECK(d->lease_left() > Milliseconds(kLeaseMs));
  CHECK_FALSE(d->settled());
  CHECK_THROWS_AS(d->extend(Milliseconds(1)), ClientError);
  d->extend();
  d.reset();
  std::vector<Received<wire::Settle>> frames;
  while (settled.leases < 6) settled.add(frames.emplace_back(broker.expect<wire::Settle>()));
  REQUIRE(settled.settlements.size() == 6);
  CHECK(settled.settlements[0].verb == wire::Verb::nack);
  CHECK(settled.reasons[0] == "no luck");
  CHECK(settled.settlements[0].delay_ms == 250);
  CHECK(settled.settlements[1].verb == wire::Verb::release);
  CHECK(settled.settlements[2].verb == wire::Verb::reject);
  CHECK(settled.reasons[2] == "bad?");
  CHECK(settled.settlements[3].verb == wire::Verb::extend);
  CHECK(settled.settlements[3].lease_ms == 120'000);
  CHECK(settled.settlements[4].verb == wire::Verb::extend);
  CHECK_FALSE(settled.settlements[4].lease_ms);
  CHECK(settled.settlements[5].verb == wire::Verb::nack);
  CHECK(settled.reasons[5] == "dropped without settlement");
  CHECK(settled.messages == 4);
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: receive() waits no longer than it was told") {
  Consumer consumer = pull();
  CHECK_FALSE(consumer.receive(Milliseconds(0)));
  CHECK_FALSE(consumer.receive(Milliseconds(5)));
  broker.send(deliver(1, {"a"}));
  auto delivery = consumer.receive(kPatience);
  REQUIRE(delivery);
  delivery->ack();
  broker.expect<wire::Settle>();
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: a lease that the broker ended is not started, and its credit comes back") {
  Consumer consumer = pull();
  std::promise<std::pair<std::uint64_t, int>> told;
  consumer.on_stale([&](std::uint64_t first, std::uint64_t, const ClientError& why) {
    told.set_value({first, why.code()});
  });
  broker.send(deliver(1, {"a", "b", "c"}));
  broker.send(wire::LeaseLost{1, {{2, 2}}, 350});
  const auto what = told.get_future().get();
  CHECK(what.first == 2);
  CHECK(what.second == 350);
  auto a = consumer.receive(kPatience);
  a->ack();
  auto c = consumer.receive(kPatience);
  CHECK(c->payload() == "c");
  c->ack();
  Settled settled;
  while (settled.messages < 3) settled.add(broker.expect<wire::Settle>());
  CHECK(settled.leases == 2);
  CHECK(settled.messages == 3);
  CHECK(settled.bytes == 3);
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: a delivery whose lease ran out in the buffer is not started") {
  Consumer consumer = pull();
  broker.send(deliver(1, {"late"}, 1, 1));
  broker.send(deliver(2, {"good"}));
  broker.sync(*client);                                        // both are in the buffer,
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // and time itself is what ends the lease
  auto delivery = consumer.receive(kPatience);
  REQUIRE(delivery);
  CHECK(delivery->payload() == "good");
  delivery->ack();
  Settled settled;
  while (settled.messages < 2) settled.add(broker.expect<wire::Settle>());
  CHECK(settled.leases == 1);
  CHECK(settled.messages == 2);
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: a settlement that came too late is told to the consumer that made it") {
  Consumer first = pull();
  Consumer second = pull();
  std::promise<std::uint64_t> told;
  first.on_stale([](std::uint64_t, std::uint64_t, const ClientError&) { FAIL_CHECK("the wrong consumer"); });
  second.on_stale([&](std::uint64_t lease, std::uint64_t, const ClientError& why) {
    CHECK(why.code() == 303);
    told.set_value(lease);
  });
  broker.send(deliver(1, {"a"}, 1));
  broker.send(deliver(2, {"b"}, 2));
  first.receive(kPatience)->ack();
  broker.expect<wire::Settle>();
  second.receive(kPatience)->ack();
  broker.expect<wire::Settle>();
  broker.send(wire::Settled{std::nullopt, {{2, 2, 303}}});
  CHECK(told.get_future().get() == 2);
  close(first);
  close(second);
}

TEST_CASE_FIXTURE(Fixture, "consume: leases of what is held are extended, up to the stated time and no further") {
  Consumer consumer = pull({.prefetch = 16, .prefetch_bytes = 1'000, .extend_up_to = Milliseconds(1'000)});
  broker.send(deliver(1, {"a", "b", "c"}, 1, 600));
  auto a = consumer.receive(kPatience);
  auto b = consumer.receive(kPatience);
  a->ack();
  Settled acked;
  acked.add(broker.expect<wire::Settle>());
  const auto extend = broker.expect<wire::Settle>();
  REQUIRE(extend->settlements.size() == 1);
  CHECK(extend->settlements[0].verb == wire::Verb::extend);
  CHECK(extend->settlements[0].first_lease == 2);
  CHECK(extend->settlements[0].last_lease == 3);
  REQUIRE(extend->settlements[0].lease_ms);
  CHECK(*extend->settlements[0].lease_ms <= 600);  // 400 ms are over: 600 are left of the 1,000
  CHECK(*extend->settlements[0].lease_ms >= 100);
  CHECK(extend->grants.empty());
  b->ack();
  auto c = consumer.receive(kPatience);
  if (c) c->ack();
  c.reset();
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: a deleted queue ends the consumer by name") {
  Consumer consumer = pull();
  broker.send(deliver(1, {"a"}));
  auto held = consumer.receive(kPatience);
  broker.send(wire::ConsumerClosed{1, {351, "queue_deleted", "the queue was deleted", false, 0}});
  try {
    consumer.receive(kPatience);
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 351);
  }
  REQUIRE(consumer.failure());
  CHECK(consumer.failure()->code() == 351);
  held->ack();  // goes out: the broker has the last word on it
  CHECK(broker.expect<wire::Settle>()->settlements.size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "consume: the broker's refusal is thrown by the constructor") {
  std::thread answering([&] {
    const auto consume = broker.expect<wire::Consume>();
    broker.send(wire::Reply{consume->request, std::nullopt, wire::ErrorBody{302, "bad_credit", "too much", false, 0}});
  });
  try {
    Consumer consumer(*client, "jobs");
    FAIL("no error");
  } catch (const ClientError& error) {
    CHECK(error.code() == 302);
  }
  answering.join();
}

TEST_CASE_FIXTURE(Fixture, "consume: close gives back what nobody started, and what is held can still be settled") {
  Consumer consumer = pull();
  broker.send(deliver(1, {"a", "b", "c"}));
  auto held = consumer.receive(kPatience);
  const Settled settled = while_closing([&] { consumer.close(); });
  CHECK(settled.leases == 2);
  CHECK(settled.settlements.at(0).verb == wire::Verb::release);
  CHECK(settled.settlements.at(0).first_lease == 2);
  CHECK(settled.settlements.at(0).last_lease == 3);
  CHECK_FALSE(consumer.receive());
  consumer.close();
  held->ack();
  const auto late = broker.expect<wire::Settle>();
  CHECK(late->settlements.at(0) == wire::Settlement{wire::Verb::ack, 1, 1, {}, std::nullopt, std::nullopt});
  CHECK(late->grants.empty());
}

TEST_CASE_FIXTURE(Fixture, "consume: no credit is granted behind a CANCEL") {
  Consumer consumer = pull({.prefetch = 100, .prefetch_bytes = 1'000'000, .extend_up_to = Milliseconds(0)});
  broker.send(deliver(1, {"a", "b"}));
  for (int i = 0; i < 2; ++i) consumer.receive(kPatience)->ack();  // the second one leaves the grant for the next flush
  std::thread closing([&] { consumer.close(); });
  bool cancelled = false;
  while (!cancelled) {
    broker.next([&](const auto& received) {
      const auto* const cancel = std::get_if<wire::Cancel>(&received.frame);
      cancelled = cancel != nullptr;
      if (cancelled) broker.reply_ok(cancel->request);
    });
  }
  closing.join();
  broker.sync(*client);
  while (broker.waiting() > 0) {
    broker.next([](const auto& received) {
      if (const auto* settle = std::get_if<wire::Settle>(&received.frame)) CHECK(settle->grants.empty());
    });
  }
}

TEST_CASE_FIXTURE(Fixture, "consume: a grant that crossed the end of its consumer does not cost the session") {
  Consumer consumer = pull();
  broker.send(wire::ErrorFrame{
      wire::ErrorBody{300, "unknown_consumer", "grant: no consumer 1 in this session", false, 0}, std::nullopt});
  broker.send(deliver(1, {"a"}));
  CHECK(consumer.receive(kPatience)->payload() == "a");
}

TEST_CASE_FIXTURE(Fixture, "consume: deliveries that cross the CANCEL are given back") {
  Consumer consumer = pull();
  std::thread closing([&] { consumer.close(); });
  const auto cancel = broker.expect<wire::Cancel>();
  broker.send(deliver(1, {"a", "b"}));
  const auto settle = broker.expect<wire::Settle>();
  CHECK(settle->settlements.at(0) == wire::Settlement{wire::Verb::release, 1, 2, {}, std::nullopt, std::nullopt});
  broker.reply_ok(cancel->request);
  closing.join();
}

TEST_CASE_FIXTURE(Fixture, "consume: a handler that returns acks, one that throws nacks with its text") {
  Consumer consumer = handle([](Delivery& delivery) {
    if (delivery.payload() == "bad") throw std::runtime_error("cannot do bad");
  });
  broker.send(deliver(1, {"good", "bad"}));
  Settled settled;
  std::vector<Received<wire::Settle>> frames;
  while (settled.leases < 2) settled.add(frames.emplace_back(broker.expect<wire::Settle>()));
  REQUIRE(settled.settlements.size() == 2);
  CHECK(settled.settlements[0].verb == wire::Verb::ack);
  CHECK(settled.settlements[1].verb == wire::Verb::nack);
  CHECK(settled.reasons[1] == "cannot do bad");
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: more settlements than a frame may hold leave in several, in order") {
  constexpr std::uint64_t kCount = 20'000;
  Consumer consumer = pull({.prefetch = kCount, .prefetch_bytes = 1'000'000, .extend_up_to = Milliseconds(0)});
  broker.send(deliver(1, std::vector<std::string>(kCount, "x")));
  std::vector<Delivery> held;
  for (std::uint64_t i = 0; i < kCount; ++i) held.push_back(*consumer.receive(kPatience));
  // Every other one first, so that nothing joins; frame and grant sums must come out all the same.
  for (std::uint64_t i = 0; i < kCount; i += 2) held[i].ack();
  for (std::uint64_t i = 1; i < kCount; i += 2) held[i].ack();
  Settled settled;
  while (settled.leases < kCount) settled.add(broker.expect<wire::Settle>());
  CHECK(settled.leases == kCount);
  CHECK(settled.messages == kCount);
  CHECK(settled.bytes == kCount);
  close(consumer);
}

TEST_CASE_FIXTURE(Fixture, "consume: the iterator goes on until the consumer is closed") {
  Consumer consumer = pull();
  broker.send(deliver(1, {"a", "b", "c"}));
  std::vector<std::string> seen;
  const Settled settled = while_closing([&] {
    for (Delivery& delivery : consumer) {
      seen.emplace_back(delivery.payload());
      delivery.ack();
      if (seen.size() == 3) consumer.close();
    }
  });
  CHECK(seen == std::vector<std::string>{"a", "b", "c"});
  CHECK(settled.leases == 3);
}

TEST_CASE_FIXTURE(Fixture, "consume: bad options are refused by name") {
  const auto code_of = [&](std::string_view queue, const ConsumeOptions& options) {
    try {
      const Consumer consumer(*client, queue, options);
    } catch (const ClientError& error) {
      return error.code();
    }
    return 0;
  };
  CHECK(code_of("jobs", {.prefetch = 0}) == kErrorBadArgument);
  CHECK(code_of("jobs", {.prefetch = 65'536}) == kErrorBadArgument);
  CHECK(code_of("jobs", {.prefetch = 0xffffffffu}) == kErrorBadArgument);
  CHECK(code_of("jobs", {.prefetch_bytes = 0}) == kErrorBadArgument);
  CHECK(code_of("a/b", {}) == 200);
  broker.sync(*client);
  CHECK(broker.waiting() == 0);
}

}  // namespace
}  // namespace sluice::test
