#include <doctest/doctest.h>

#include "running.h"

namespace sluice::server {
namespace {

struct Draining : Running {
  Draining() {
    hello("p");
    hello("c");
    router.put("p", publish("jobs", 1, {{"1", {}, 0, 4}, {"2", {}, 0, 4}}));
    router.put("c", wire::Consume{1, 5, "jobs", 1, 1'000});
    settle();
    router.take("p");
    lease = router.take_one<wire::Deliver>("c").first_lease;
    server.stop();
  }
  std::uint64_t lease = 0;
};

TEST_CASE("C08 drain: clients are told, new publishes and consumers are refused, nothing more is handed out") {
  Draining r;
  r.router.put("p", publish("jobs", 3, {{"3", {}, 0, 4}}));
  r.router.put("c", wire::Consume{2, 6, "jobs", 10, 1'000});
  r.router.put("c", wire::Settle{{}, {}, {{5, 10, 1'000}}});
  CHECK(r.settle());
  bool told = false;
  bool refused = false;
  for (const auto& frame : r.router.take("p")) {
    if (std::holds_alternative<wire::Draining>(frame)) told = true;
    if (const auto* confirm = std::get_if<wire::Confirm>(&frame))
      refused = confirm->refused.at(0).error.name == "draining";
  }
  CHECK(told);
  CHECK(refused);
  for (const auto& frame : r.router.take("c")) {
    CHECK_FALSE(std::holds_alternative<wire::Deliver>(frame));
    if (const auto* reply = std::get_if<wire::Reply>(&frame)) CHECK(reply->error->name == "draining");
  }
}

TEST_CASE("C08 drain: an ack is still taken, and the end comes when the last lease has ended") {
  Draining r;
  CHECK(r.settle());
  r.router.put("c", wire::Settle{9, {{wire::Verb::ack, r.lease, r.lease, {}, {}, {}}}, {}});
  CHECK_FALSE(r.settle());
  bool answered = false;
  bool bye = false;
  for (const auto& frame : r.router.take("c")) {
    if (const auto* settled = std::get_if<wire::Settled>(&frame)) answered = settled->exceptions.empty();
    if (const auto* end = std::get_if<wire::Bye>(&frame))
      bye = end->code == static_cast<std::uint64_t>(ErrorCode::draining);
  }
  CHECK(answered);
  CHECK(bye);
}

TEST_CASE("drain: ends at its deadline whatever is still held") {
  Draining r;
  r.clock.pass(9'999);
  CHECK(r.settle());
  r.clock.pass(1);
  CHECK_FALSE(r.settle());
}

TEST_CASE("drain: a second stop ends at once") {
  Draining r;
  r.server.stop();
  CHECK_FALSE(r.settle());
}

TEST_CASE("drain: with nothing held it is over at once") {
  Running r;
  r.hello("p");
  r.server.stop();
  CHECK_FALSE(r.settle());
}

}  // namespace
}  // namespace sluice::server
