#include "outbox/outbox.h"

#include <doctest/doctest.h>

#include "engine/queue.h"
#include "fake_router.h"

namespace sluice::outbox {
namespace {

constexpr SessionId kOne{1};
constexpr SessionId kTwo{2};

struct Fixture {
  explicit Fixture(const OutboxOptions& options = {}) : outbox(options, router) {
    outbox.open(kOne, "one");
    outbox.open(kTwo, "two");
  }
  void confirm(SessionId session, std::uint64_t up_to) { outbox.confirm(session, {up_to, {}, {}}); }
  std::vector<std::uint64_t> confirmed(const std::string& route) {
    std::vector<std::uint64_t> numbers;
    for (const auto& frame : router.take(route)) numbers.push_back(std::get<wire::Confirm>(frame).up_to);
    return numbers;
  }
  io::FakeRouter router;
  Outbox outbox;
};

using Numbers = std::vector<std::uint64_t>;

TEST_CASE("outbox: nothing leaves before its sequence is durable, and then in order") {
  Fixture f;
  f.confirm(kOne, 1);
  f.outbox.seal(Sequence{10});
  f.confirm(kOne, 2);
  f.outbox.seal(Sequence{11});
  f.confirm(kOne, 3);  // open
  f.outbox.send_through(Sequence{9});
  CHECK(f.confirmed("one").empty());
  f.outbox.send_through(Sequence{10});
  CHECK(f.confirmed("one") == Numbers{1});
  f.outbox.send_through(Sequence{100});
  CHECK(f.confirmed("one") == Numbers{2});  // 3 is not sealed
  f.outbox.seal(Sequence{12});
  f.outbox.send_through(Sequence{12});
  CHECK(f.confirmed("one") == Numbers{3});
  CHECK(f.outbox.bytes() == 0);
}

TEST_CASE("outbox: a peer that takes nothing keeps its frames, and holds up nobody else") {
  Fixture f;
  f.router.full.insert("one");
  f.confirm(kOne, 1);
  f.confirm(kTwo, 2);
  f.outbox.seal(Sequence{1});
  f.outbox.send_through(Sequence{1});
  CHECK(f.outbox.has_blocked());
  CHECK(f.confirmed("two") == Numbers{2});
  f.router.full.clear();
  f.outbox.send_through(Sequence{1});
  CHECK_FALSE(f.outbox.has_blocked());
  CHECK(f.confirmed("one") == Numbers{1});
  CHECK(f.outbox.take_lost().empty());
}

TEST_CASE("outbox: a peer that is gone is reported once, and told nothing more") {
  Fixture f;
  f.router.gone.insert("one");
  f.confirm(kOne, 1);
  f.outbox.seal(Sequence{1});
  f.outbox.send_through(Sequence{1});
  const auto lost = f.outbox.take_lost();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].session == kOne);
  CHECK(lost[0].why == Lost::gone);
  f.confirm(kOne, 2);
  f.outbox.seal(Sequence{2});
  f.outbox.send_through(Sequence{2});
  CHECK(f.outbox.take_lost().empty());
  f.outbox.close(kOne);
  CHECK(f.outbox.bytes() == 0);
}

TEST_CASE("outbox: a line over its bound is given up as slow") {
  OutboxOptions options;
  options.line_bytes_max = 2'000;
  Fixture f(options);
  f.router.full.insert("one");
  std::uint64_t frames = 0;
  std::vector<LostSession> lost;
  while (lost.empty() && frames < 100) {
    f.confirm(kOne, ++frames);
    lost = f.outbox.take_lost();
  }
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].why == Lost::slow);
  CHECK(f.outbox.bytes() <= 2'000 + 256);
}

TEST_CASE("outbox: what is told to a session that has ended in the same turn goes nowhere") {
  Fixture f;
  f.confirm(kOne, 1);
  f.outbox.close(kOne);
  f.confirm(kOne, 2);
  f.outbox.seal(Sequence{1});
  f.outbox.send_through(Sequence{1});
  CHECK(f.router.sent["one"].empty());
  CHECK(f.outbox.bytes() == 0);
}

TEST_CASE("outbox: many deliveries go in frames of bounded size, with the right leases, none left out") {
  Fixture f;
  std::vector<engine::Message*> messages;
  engine::Queue queue;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    engine::Message* const message = engine::Message::make(std::string(1'000, 'x'), "");
    message->id = MessageId{i + 1};
    message->queue = &queue;
    message->deliveries = 1;
    messages.push_back(message);
  }
  f.outbox.deliver(kOne, 9, LeaseId{501}, 30'000, messages);
  f.outbox.seal(Sequence{1});
  f.outbox.send_through(Sequence{1});
  for (const std::string& bytes : f.router.sent["one"]) CHECK(bytes.size() < 600 * 1'024);
  std::uint64_t expected = 1;
  for (const auto& frame : f.router.take("one")) {
    const auto& deliver = std::get<wire::Deliver>(frame);
    CHECK(deliver.consumer == 9);
    CHECK(deliver.first_lease == 500 + expected);
    for (const wire::Delivery& delivery : deliver.deliveries) CHECK(delivery.id == expected++);
  }
  CHECK(expected == 5'001);
  for (engine::Message* message : messages) engine::Message::free(message);
}

}  // namespace
}  // namespace sluice::outbox
