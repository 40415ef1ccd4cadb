#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "durable_broker.h"
#include "running.h"

namespace sluice::server {
namespace {

wire::PublishMessage plain(std::string_view payload) { return {payload, {}, 0, 4}; }

template <class Frame>
std::vector<Frame> only(const std::vector<wire::BrokerFrame>& frames) {
  std::vector<Frame> found;
  for (const wire::BrokerFrame& frame : frames)
    if (const auto* wanted = std::get_if<Frame>(&frame)) found.push_back(*wanted);
  return found;
}

wire::Settle ack(std::uint64_t first, std::uint64_t last, std::optional<std::uint64_t> request = {}) {
  wire::Settle frame;
  frame.request = request;
  frame.settlements.push_back({wire::Verb::ack, first, last, {}, {}, {}});
  return frame;
}

TEST_CASE("durable: nothing is told before the disk has it, and heartbeats go past what waits (S2)") {
  DurableBroker b;
  b.hello("p");
  b.disk_works = false;
  b.router.put("p", publish("jobs", 1, {plain("a")}));
  b.settle();
  CHECK(b.router.take("p").empty());
  // A peer that says nothing is gone after three heartbeats: it goes on saying something.
  for (int i = 0; i < 4; ++i) {
    b.router.put("p", wire::Heartbeat{});
    b.pass(5'000);
  }
  const auto meanwhile = b.router.take("p");
  CHECK(only<wire::Heartbeat>(meanwhile).size() >= 3);
  CHECK(only<wire::Confirm>(meanwhile).empty());
  b.disk_works = true;
  b.settle();
  CHECK(b.router.take_one<wire::Confirm>("p").up_to == 1);
}

TEST_CASE("durable: a lease does not run while its delivery waits for the disk (S8)") {
  ServerOptions options;
  options.engine.policy.lease_ms = 1'000;
  DurableBroker b(options);
  b.hello("p");
  b.hello("c");
  b.router.put("p", publish("jobs", 1, {plain("a")}));
  b.settle();
  b.router.take("p");
  b.disk_works = false;
  b.router.put("c", wire::Consume{1, 5, "jobs", 10, 1'000});
  b.settle();
  for (int i = 0; i < 10; ++i) {
    b.router.put("c", wire::Heartbeat{});
    b.pass(1'000);
  }
  CHECK(only<wire::Deliver>(b.router.take("c")).empty());
  b.disk_works = true;
  b.settle();
  const auto told = b.router.take("c");
  REQUIRE(only<wire::Deliver>(told).size() == 1);
  CHECK(only<wire::LeaseLost>(told).empty());
  b.pass(900);
  b.router.put("c", ack(1, 1, 7));
  b.settle();
  CHECK(b.router.take_one<wire::Settled>("c").exceptions.empty());
  CHECK(b.number("p", "jobs", "acked") == 1);
}

TEST_CASE("durable: what was confirmed is there after a crash, and what was acked is not (S1, S4)") {
  DurableBroker b;
  b.hello("p");
  b.hello("c");
  b.router.put("p", publish("jobs", 1, {plain("a"), plain("b"), plain("c")}));
  b.router.put("c", wire::Consume{1, 5, "jobs", 2, 1'000});
  b.settle();
  b.router.put("c", ack(1, 1, 7));
  b.settle();
  CHECK(b.router.take("c").size() == 3);  // REPLY, DELIVER, SETTLED
  b.restart_after_crash();
  CHECK(b.recovered.messages == 2);
  CHECK(b.recovered.returned == 1);
  b.hello("c");
  const wire::Reply peeked = b.request("c", "queue.peek", wire::Map().set("name", "jobs"));
  const wire::Array& messages = *peeked.result->find("messages")->get_if<wire::Array>();
  REQUIRE(messages.size() == 2);
  const wire::Map& first = *messages[0].get_if<wire::Map>();
  CHECK(*first.find("deliveries")->get_if<std::uint64_t>() == 1);
  CHECK(*first.find("restarts")->get_if<std::uint64_t>() == 1);
  b.router.put("c", wire::Consume{1, 5, "jobs", 10, 1'000});
  b.settle();
  const auto deliver = b.router.take_one<wire::Deliver>("c");
  CHECK(deliver.first_lease == 3);  // lease numbers go on (S6)
  REQUIRE(deliver.deliveries.size() == 2);
  CHECK(deliver.deliveries[0].payload == "b");
  CHECK(deliver.deliveries[0].count == 2);
  CHECK(deliver.deliveries[1].payload == "c");
}

TEST_CASE("drain: a resend of what was accepted is confirmed again, not refused (S13)") {
  DurableBroker b;
  wire::Hello named;
  named.producer = "0123456789abcdef";
  b.hello("p", named);
  b.hello("c");
  b.router.put("p", publish("jobs", 1, {plain("a")}));
  b.router.put("c", wire::Consume{1, 5, "jobs", 1, 1'000});
  b.settle();
  const auto first = b.router.take_one<wire::Confirm>("p");
  b.server->stop();
  b.settle();
  REQUIRE(!b.stopped);  // a lease is held
  b.router.take("p");
  b.router.put("p", publish("jobs", 1, {plain("a"), plain("b")}));
  b.settle();
  const auto second = b.router.take_one<wire::Confirm>("p");
  REQUIRE(second.accepted.size() == 1);
  CHECK(second.accepted[0].first_id == first.accepted.at(0).first_id);
  REQUIRE(second.refused.size() == 1);
  CHECK(second.refused[0].first_sequence == 2);
}

TEST_CASE("drain: after the journal's last record nothing is decided any more (S13)") {
  DurableBroker b;
  b.hello("p");
  wire::Map policy;
  policy.set("max_messages", std::uint64_t{1}).set("overflow", "block").set("block_timeout_ms", std::uint64_t{1'000});
  REQUIRE(b.request("p", "queue.declare", wire::Map().set("name", "jobs").set("policy", policy)).result);
  b.router.put("p", publish("jobs", 1, {plain("a"), plain("b")}));
  b.settle();
  CHECK(b.router.take_one<wire::Confirm>("p").up_to == 1);
  b.disk_works = false;
  b.server->stop();
  b.settle();
  b.pass(2'000);  // the wait of the second one is over
  REQUIRE(!b.stopped);
  b.disk_works = true;
  for (int i = 0; i < 100 && !b.stopped; ++i) b.turn();
  CHECK(b.stopped);
  CHECK(only<wire::Confirm>(b.router.take("p")).empty());
}

TEST_CASE("durable: a producer's resend after a crash is confirmed with the first id (S13)") {
  DurableBroker b;
  wire::Hello named;
  named.producer = "0123456789abcdef";
  b.hello("p", named);
  b.router.put("p", publish("jobs", 1, {plain("a"), plain("b")}));
  b.settle();
  const auto first = b.router.take_one<wire::Confirm>("p");
  b.restart_after_crash();
  CHECK(b.hello("p", named).producer_sequence == 2);
  b.router.put("p", publish("jobs", 2, {plain("b"), plain("c")}));
  b.settle();
  const auto second = b.router.take_one<wire::Confirm>("p");
  CHECK(second.up_to == 3);
  CHECK(second.accepted.at(0).first_id == first.accepted.at(0).first_id + 1);
  CHECK(b.number("p", "jobs", "ready") == 3);
}

TEST_CASE("durable: a stop in order leaves nothing to cut, and a message of an undurable queue is gone") {
  DurableBroker b;
  b.hello("p");
  b.request("p", "queue.declare", wire::Map().set("name", "fast").set("policy", wire::Map().set("durable", false)));
  b.router.put("p", publish("fast", 1, {plain("a"), plain("b")}));
  b.router.put("p", publish("jobs", 3, {plain("c")}));
  b.settle();
  b.stop();
  b.start();
  b.hello("p");
  CHECK(b.number("p", "fast", "ready") == 0);
  CHECK(b.number("p", "fast", "enqueued") == b.number("p", "fast", "dropped"));  // S3
  CHECK(b.number("p", "jobs", "ready") == 1);
}

TEST_CASE("durable: the queue of an unnamed subscription goes with the broker") {
  DurableBroker b;
  b.hello("c");
  wire::Consume consume{1, 5, "", 1, 1'000};
  consume.topic = "t.*";
  b.router.put("c", consume);
  b.settle();
  b.hello("p");
  CHECK(b.request("p", "queue.list").result->find("queues")->get_if<wire::Array>()->size() == 1);
  b.restart_after_crash();
  b.hello("p");
  CHECK(b.request("p", "queue.list").result->find("queues")->get_if<wire::Array>()->empty());
  CHECK(b.request("p", "bind.list").result->find("bindings")->get_if<wire::Array>()->empty());
}

// --- more messages than memory

struct Backlog {
  static constexpr std::uint64_t kMessages = 200;
  static constexpr std::size_t kBytes = 1'000;
  static constexpr std::uint64_t kMemory = 20'000;

  Backlog() : b(options()) {
    b.hello("p");
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      payloads.push_back(std::string(kBytes - 5, static_cast<char>('a' + i % 26)) + std::to_string(10'000 + i));
      b.router.put("p", publish("jobs", i + 1, {plain(payloads.back())}));
      b.settle();
    }
    b.router.take("p");
  }
  static ServerOptions options() {
    ServerOptions options;
    options.memory_bytes = kMemory;
    return options;
  }
  std::uint64_t in_memory() {
    const wire::Map info = b.request("p", "server.info").result.value();
    return *info.find("bytes")->get_if<std::uint64_t>() - *info.find("bytes_on_disk_only")->get_if<std::uint64_t>();
  }
  // Takes and acks everything, a few at a time.
  std::vector<std::string> consume_all() {
    std::vector<std::string> got;
    b.hello("c");
    b.router.put("c", wire::Consume{1, 5, "jobs", 7, 1'000'000});
    for (int idle = 0; idle < 3; ++idle) {
      b.settle();
      for (const auto& deliver : only<wire::Deliver>(b.router.take("c"))) {
        idle = 0;
        for (const auto& delivery : deliver.deliveries) got.emplace_back(delivery.payload);
        wire::Settle settle = ack(deliver.first_lease, deliver.first_lease + deliver.deliveries.size() - 1);
        settle.grants.push_back({5, deliver.deliveries.size(), deliver.deliveries.size() * kBytes});
        b.router.put("c", settle);
      }
    }
    return got;
  }

  DurableBroker b;
  std::vector<std::string> payloads;
};

TEST_CASE("durable: a backlog larger than memory is handed out in order, byte for byte") {
  Backlog backlog;
  CHECK(backlog.in_memory() <= Backlog::kMemory + Backlog::kBytes);
  CHECK(backlog.consume_all() == backlog.payloads);
  CHECK(backlog.in_memory() == 0);
}

TEST_CASE("durable: a backlog larger than memory starts within memory, and is handed out in order") {
  Backlog backlog;
  backlog.b.restart_after_crash();
  backlog.b.hello("p");
  CHECK(backlog.in_memory() <= Backlog::kMemory);
  CHECK(backlog.consume_all() == backlog.payloads);
}

TEST_CASE("durable: peek shows messages whose bodies are on disk only") {
  Backlog backlog;
  const wire::Reply reply =
      backlog.b.request("p", "queue.peek", wire::Map().set("name", "jobs").set("after", 190).set("limit", 5));
  const wire::Array& messages = *reply.result->find("messages")->get_if<wire::Array>();
  REQUIRE(messages.size() == 5);
  for (std::size_t i = 0; i < messages.size(); ++i)
    CHECK(messages[i].get_if<wire::Map>()->find("payload")->get_if<wire::Bin>()->bytes == backlog.payloads[190 + i]);
}

TEST_CASE("durable: a body that comes back with other bytes is handed to nobody, and the broker stops (C15, S18)") {
  Backlog backlog;
  for (const auto& [name, bytes] : backlog.b.disk.image()) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const auto at = text.find("10100"); at != std::string_view::npos) backlog.b.disk.flip(name, at * 8);
  }
  const std::vector<std::string> got = backlog.consume_all();
  CHECK(backlog.b.failed);
  REQUIRE(got.size() <= 100);
  CHECK(std::equal(got.begin(), got.end(), backlog.payloads.begin()));
  CHECK(backlog.b.server->failure().value().find(".segment offset ") != std::string::npos);
}

TEST_CASE("durable: a full disk refuses publishes, not acks, and service resumes by itself (C17, L7)") {
  DurableBroker b({}, 64 * 1024);
  b.disk.set_capacity(4 * 64 * 1024);
  b.hello("p");
  b.hello("c");
  const std::string payload(4'000, 'x');
  std::uint64_t sequence = 0;
  std::uint64_t accepted = 0;
  for (int i = 0; i < 200; ++i) {
    b.router.put("p", publish("jobs", ++sequence, {plain(payload)}));
    b.settle();
    const auto confirm = b.router.take_one<wire::Confirm>("p");
    for (const wire::Accepted& run : confirm.accepted) accepted += run.count;
    for (const wire::Refused& run : confirm.refused) CHECK(run.error.name == "storage_full");
  }
  CHECK_FALSE(b.failed);
  CHECK(accepted > 20);
  CHECK(accepted < 100);
  b.router.put("c", wire::Consume{1, 5, "jobs", 1'000, 10'000'000});
  b.settle();
  std::uint64_t delivered = 0;
  for (const auto& deliver : only<wire::Deliver>(b.router.take("c"))) {
    delivered += deliver.deliveries.size();
    b.router.put("c", ack(deliver.first_lease, deliver.first_lease + deliver.deliveries.size() - 1, 9));
  }
  CHECK(delivered == accepted);
  b.settle();
  CHECK(b.router.take_one<wire::Settled>("c").exceptions.empty());
  for (int i = 0; i < 5; ++i) {
    b.router.put("p", wire::Heartbeat{});
    b.router.put("c", wire::Heartbeat{});
    b.pass(1'000);
  }
  b.router.take("p");
  b.router.put("p", publish("jobs", ++sequence, {plain(payload)}));
  b.settle();
  CHECK(b.router.take_one<wire::Confirm>("p").accepted.size() == 1);
}

TEST_CASE("durable: after a failed sync nothing is confirmed, and the broker says what failed (S19)") {
  DurableBroker b;
  b.hello("p");
  b.disk.fail(test::Call::sync, 1, EIO);
  b.router.put("p", publish("jobs", 1, {plain("a")}));
  b.settle();
  CHECK(b.failed);
  CHECK(b.router.take("p").empty());
  CHECK(b.server->failure().value().find("Input/output error") != std::string::npos);
}

}  // namespace
}  // namespace sluice::server
