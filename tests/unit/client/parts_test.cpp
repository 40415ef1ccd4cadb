// The parts that need no broker: liveness, settle buffer, reasons, headers, wake.

#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <poll.h>

#include "headers.h"
#include "liveness.h"
#include "reason.h"
#include "settle_buffer.h"
#include "wake.h"
#include "wire/utf8.h"

namespace sluice::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

wire::Settlement ack(std::uint64_t first, std::uint64_t last) {
  return {wire::Verb::ack, first, last, {}, std::nullopt, std::nullopt};
}

TEST_CASE("liveness: three intervals of silence are a loss, any frame begins anew") {
  Liveness liveness;
  const TimePoint start{seconds(1'000)};
  liveness.start(start, seconds(5));
  CHECK_FALSE(liveness.lost(start + seconds(14)));
  CHECK(liveness.lost(start + seconds(15)));
  liveness.received(start + seconds(14));
  CHECK_FALSE(liveness.lost(start + seconds(28)));
  CHECK(liveness.lost(start + seconds(29)));
}

TEST_CASE("liveness: we speak after one interval of our own silence") {
  Liveness liveness;
  const TimePoint start{seconds(1'000)};
  liveness.start(start, seconds(5));
  CHECK_FALSE(liveness.must_send(start + milliseconds(4'999)));
  CHECK(liveness.must_send(start + seconds(5)));
  CHECK(liveness.next() == start + seconds(5));
  liveness.sent(start + seconds(5));
  CHECK_FALSE(liveness.must_send(start + seconds(9)));
}

TEST_CASE("liveness: time in which we did not run does not count against the broker") {
  Liveness liveness;
  const TimePoint start{seconds(1'000)};
  liveness.start(start, seconds(5));
  liveness.will_sleep(seconds(5));
  liveness.turn(start + seconds(105));  // slept 5 s as planned, and was stopped for 100 s
  CHECK_FALSE(liveness.lost(start + seconds(105)));
  CHECK_FALSE(liveness.lost(start + seconds(114)));
  CHECK(liveness.lost(start + seconds(115)));
}

TEST_CASE("settle buffer: neighbours of one verb become one range, in order") {
  SettleBuffer buffer;
  buffer.add(ack(5, 5));
  buffer.add(ack(6, 6));
  buffer.add({wire::Verb::release, 7, 7, {}, std::nullopt, std::nullopt});
  buffer.add(ack(8, 8));
  buffer.add(ack(10, 12));
  buffer.grant(2, 10);
  buffer.grant(1, 5);
  CHECK(buffer.lease_count() == 7);
  SettleBatch batch;
  buffer.move_to(batch, 3);
  CHECK(buffer.empty());
  REQUIRE(batch.settle.settlements.size() == 4);
  CHECK(batch.settle.settlements[0] == ack(5, 6));
  CHECK(batch.settle.settlements[3] == ack(10, 12));
  CHECK(batch.settle.grants == std::vector<wire::Grant>{{3, 3, 15}});
}

TEST_CASE("settle buffer: options are never joined, and reasons are kept") {
  SettleBuffer buffer;
  {
    const std::string first(100, 'a');
    buffer.add({wire::Verb::nack, 1, 1, first, std::nullopt, std::nullopt});
    const std::string second(100, 'b');
    buffer.add({wire::Verb::nack, 2, 2, second, std::nullopt, std::nullopt});
    buffer.add({wire::Verb::nack, 3, 3, {}, 5, std::nullopt});
    buffer.add({wire::Verb::nack, 4, 4, {}, std::nullopt, std::nullopt});
  }
  SettleBatch batch;
  buffer.move_to(batch, 1);
  REQUIRE(batch.settle.settlements.size() == 4);
  CHECK(batch.settle.settlements[0].reason == std::string(100, 'a'));
  CHECK(batch.settle.settlements[1].reason == std::string(100, 'b'));
}

TEST_CASE("settle buffer: a range holds no more leases than a frame may") {
  SettleBuffer buffer;
  for (std::uint64_t lease = 1; lease <= wire::kSettleLeasesMax + 1; ++lease) buffer.add(ack(lease, lease));
  REQUIRE(buffer.settlements().size() == 2);
  CHECK(buffer.settlements()[0] == ack(1, wire::kSettleLeasesMax));
}

TEST_CASE("reason: always valid UTF-8 of at most 1,024 bytes") {
  CHECK(clean_reason("plain") == "plain");
  CHECK(clean_reason("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
  CHECK(clean_reason("a\xff\xc3") == "a??");
  std::string umlauts;
  for (int i = 0; i < 1'000; ++i) umlauts += "\xc3\xbc";
  const std::string cut = clean_reason("x" + umlauts);
  CHECK(cut.size() == 1'023);  // no half character
  CHECK(wire::valid_utf8(cut));
}

TEST_CASE("headers: come back as they went in; integers by sign") {
  Headers in;
  in["b"] = true;
  in["i"] = std::int64_t{-5};
  in["u"] = std::uint64_t{1} << 63;
  in["d"] = 0.5;
  in["s"] = std::string("text");
  in["x"] = std::vector<std::byte>{std::byte{0}, std::byte{255}};
  wire::Buffer encoded;
  encode_headers(in, encoded);
  CHECK(decode_headers(encoded.view()) == in);
  CHECK(decode_headers("").empty());
  CHECK(decode_headers("\xc1").empty());
}

TEST_CASE("headers: what fits no header value is left out") {
  wire::Buffer encoded;
  wire::encode(wire::Map().set("list", wire::Array{1}).set("nil", nullptr).set("k", "v"), encoded);
  CHECK(decode_headers(encoded.view()) == Headers{{"k", std::string("v")}});
}

bool readable(int fd) {
  pollfd item{fd, POLLIN, 0};
  return poll(&item, 1, 0) == 1;
}

TEST_CASE("wake: an awake thread is not disturbed, but does not fall asleep over work") {
  Wake wake;
  wake.notify();
  CHECK_FALSE(readable(wake.fd()));
  CHECK_FALSE(wake.prepare_sleep(Clock::now() + seconds(1)));
  CHECK(wake.prepare_sleep(Clock::now() + seconds(1)));
  wake.notify();
  CHECK(readable(wake.fd()));
  wake.woke(true);
  CHECK_FALSE(readable(wake.fd()));
}

TEST_CASE("wake: a sleep that ends in time is left alone") {
  Wake wake;
  const TimePoint now = Clock::now();
  REQUIRE(wake.prepare_sleep(now + milliseconds(1)));
  wake.notify_before(now + milliseconds(2));
  CHECK_FALSE(readable(wake.fd()));
  wake.woke(false);
  REQUIRE(wake.prepare_sleep(now + seconds(5)));
  wake.notify_before(now + milliseconds(2));
  CHECK(readable(wake.fd()));
}

TEST_CASE("wake: no notification is lost between two threads") {
  Wake wake;
  std::atomic<int> made{0};
  constexpr int kCount = 20'000;
  std::thread notifying([&] {
    for (int i = 0; i < kCount; ++i) {
      ++made;
      wake.notify();
    }
  });
  int seen = 0;
  while (seen < kCount) {
    seen = made;
    if (seen == kCount || !wake.prepare_sleep(Clock::now() + seconds(30))) continue;
    pollfd item{wake.fd(), POLLIN, 0};
    REQUIRE(poll(&item, 1, 30'000) == 1);
    wake.woke(true);
  }
  notifying.join();
}

}  // namespace
}  // namespace sluice::internal
