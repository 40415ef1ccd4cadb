#include "server/server.h"

#include <doctest/doctest.h>

#include "running.h"

namespace sluice::server {
namespace {

TEST_CASE("server: a message goes from one peer to another") {
  Running r;
  r.hello("p");
  r.hello("c");
  r.router.put("c", wire::Consume{1, 5, "jobs", 10, 1'000});
  r.router.put("p", publish("jobs", 1, {{"hello", {}, 0, 4}}));
  r.settle();
  CHECK(r.router.take_one<wire::Confirm>("p").up_to == 1);
  const auto frames = r.router.take("c");
  REQUIRE(frames.size() == 2);
  CHECK(std::get<wire::Reply>(frames[0]).request == 1);
  const auto& deliver = std::get<wire::Deliver>(frames[1]);
  CHECK(deliver.consumer == 5);
  CHECK(deliver.deliveries.at(0).payload == "hello");
}

TEST_CASE("server: confirmations and deliveries of one turn are one frame a peer") {
  Running r;
  r.hello("p");
  r.hello("c");
  r.router.put("c", wire::Consume{1, 5, "jobs", 100, 1'000'000});
  r.settle();
  r.router.take("c");
  for (std::uint64_t sequence = 1; sequence <= 50; ++sequence)
    r.router.put("p", publish("jobs", sequence, {{"x", {}, 0, 4}}));
  r.settle();
  CHECK(r.router.take_one<wire::Confirm>("p").up_to == 50);
  CHECK(r.router.take_one<wire::Deliver>("c").deliveries.size() == 50);
}

TEST_CASE("server: without HELLO nothing is done, and the answer says to say HELLO") {
  Running r;
  r.router.put("x", publish("jobs", 1, {{"hello", {}, 0, 4}}));
  r.settle();
  CHECK(r.router.take_one<wire::ErrorFrame>("x").error.name == "hello_required");
  r.hello("y");
  CHECK(*r.info("y").find("queues")->get_if<std::uint64_t>() == 0);
  CHECK(r.counter("y", "frames_without_session") == 1);
}

TEST_CASE("server: HELLO again is a new session, and the old one's messages return") {
  Running r;
  r.hello("p");
  const std::uint64_t first = r.hello("c").session;
  r.router.put("p", publish("jobs", 1, {{"m", {}, 0, 4}}));
  r.router.put("c", wire::Consume{1, 5, "jobs", 1, 1'000});
  r.settle();
  r.router.take("c");
  CHECK(r.hello("c").session > first);
  CHECK(*r.info("p").find("ready")->get_if<std::uint64_t>() == 1);
  CHECK(r.counter("p", "returned_by_disconnect") == 1);
}

TEST_CASE("server: a protocol it does not speak is refused by name, a newer client is answered with 1") {
  Running r;
  wire::Hello hello;
  hello.protocol = 0;
  r.router.put("x", hello);
  r.settle();
  CHECK(r.router.take_one<wire::ErrorFrame>("x").error.name == "unsupported_protocol");
  hello.protocol = 7;
  r.router.put("x", hello);
  r.settle();
  CHECK(r.router.take_one<wire::Welcome>("x").protocol == 1);
}

TEST_CASE("server: a closed connection returns its session's messages within 3 ms, after what it said last") {
  Running r;
  r.hello("p");
  r.hello("c", 7);
  r.hello("d", 8);
  r.router.put("p", publish("jobs", 1, {{"m", {}, 0, 4}}));
  r.router.put("c", wire::Consume{1, 5, "jobs", 1, 1'000});
  r.settle();
  r.router.put("d", wire::Consume{1, 5, "jobs", 1, 1'000});
  r.settle();
  r.router.take("d");
  r.router.next_events.closed = {7};
  r.settle();
  r.clock.pass(3);
  r.settle();
  CHECK(r.router.take_one<wire::Deliver>("d").deliveries.at(0).count == 2);
}

TEST_CASE("server: what comes late in a long turn counts from the moment it came, and nothing timed is early") {
  Running r;
  r.hello("p");
  r.hello("c");
  r.router.put("c", wire::Consume{1, 5, "jobs", 1, 1'000});
  r.settle();
  r.router.take("c");
  r.clock.part_ms = 40;  // so much has gone by since the turn began
  r.router.put("p", publish("jobs", 1, {{"m", {}, 10, 4}}));
  r.settle();
  r.clock.part_ms = 1;
  r.clock.pass(49);
  r.settle();
  CHECK(r.router.take("c").empty());
  r.clock.pass(1);
  r.settle();
  CHECK(r.router.take_one<wire::Deliver>("c").deliveries.at(0).payload == "m");
}

TEST_CASE("server: an ack that the transport hands over after the end of its connection still counts") {
  Running r;
  r.hello("p");
  r.hello("c", 7);
  r.router.put("p", publish("jobs", 1, {{"m", {}, 0, 4}}));
  r.router.put("c", wire::Consume{1, 5, "jobs", 1, 1'000}, 7);
  r.settle();
  const std::uint64_t lease = r.router.take_one<wire::Deliver>("c").first_lease;
  r.router.next_events.closed = {7};
  r.settle();
  r.router.put("c", wire::Settle{{}, {{wire::Verb::ack, lease, lease, {}, {}, {}}}, {}}, 7);
  r.settle();
  r.clock.pass(3);
  r.settle();
  CHECK(r.counter("p", "acked") == 1);
  CHECK(r.counter("p", "returned_by_disconnect") == 0);
  CHECK(*r.info("p").find("sessions")->get_if<std::uint64_t>() == 1);
}

TEST_CASE("server: a new peer on a dead one's connection number ends the dead one, whose event is still under way") {
  Running r;
  r.hello("p");
  r.hello("old", 7);
  r.router.put("p", publish("jobs", 1, {{"m", {}, 0, 4}}));
  r.router.put("old", wire::Consume{1, 5, "jobs", 1, 1'000});
  r.settle();
  r.hello("new", 7);
  CHECK(*r.info("new").find("ready")->get_if<std::uint64_t>() == 1);
  CHECK(*r.info("new").find("sessions")->get_if<std::uint64_t>() == 2);
}

TEST_CASE("server: a peer that is gone before it is welcomed holds no session") {
  Running r;
  r.router.gone.insert("x");
  r.router.put("x", wire::Hello{}, 9);
  r.router.put("x", wire::Consume{1, 5, "jobs", 1, 1'000}, 9);
  r.settle();
  r.hello("y");
  CHECK(*r.info("y").find("sessions")->get_if<std::uint64_t>() == 1);
  CHECK(*r.info("y").find("consumers")->get_if<std::uint64_t>() == 0);
}

TEST_CASE("server: a silent peer is given up after three heartbeats, one that sends them is not") {
  Running r;
  r.hello("silent");
  r.hello("alive");
  for (int i = 0; i < 40; ++i) {
    r.clock.pass(400);  // no longer than the loop plans to wait: it would take it for a stall of its own
    r.router.put("alive", wire::Heartbeat{});
    r.settle();
  }
  CHECK(*r.info("alive").find("sessions")->get_if<std::uint64_t>() == 1);
  CHECK(r.counter("alive", "sessions_silent") == 1);
  bool told = false;
  for (const auto& frame : r.router.take("silent"))
    if (const auto* bye = std::get_if<wire::Bye>(&frame))
      told = bye->code == static_cast<std::uint64_t>(ErrorCode::heartbeat_missed);
  CHECK(told);
}

TEST_CASE("server: sends heartbeats to a session that it has nothing else to tell") {
  Running r;
  r.hello("c");
  r.clock.pass(5'000);
  r.router.put("c", wire::Heartbeat{});
  r.settle();
  const auto frames = r.router.take("c");
  REQUIRE(frames.size() == 1);
  CHECK(std::holds_alternative<wire::Heartbeat>(frames[0]));
}

TEST_CASE("server: when it was itself stopped for a minute, nobody is blamed") {
  Running r;
  r.hello("c");
  r.server.turn();  // plans to wait for the heartbeat
  r.clock.pass(60'000);
  r.settle();
  CHECK(*r.info("c").find("sessions")->get_if<std::uint64_t>() == 1);
}

TEST_CASE(
    "C35 server: hostile frames are answered and counted, harm nobody, and end the session when there are too many") {
  ServerOptions options;
  options.malformed_max = 5;
  Running r(options);
  r.hello("bad");
  r.hello("good");
  const std::string hostile[] = {std::string("\xdd\xff\xff\xff\xff", 5), std::string("\xdf\xff\xff\xff\xff", 5),
                                 std::string(72'000, '\x91'), std::string("\xc1", 1), std::string()};
  for (const std::string& bytes : hostile) {
    r.router.put_bytes("bad", bytes);
    r.settle();
    const auto error = r.router.take_one<wire::ErrorFrame>("bad").error;
    CHECK((error.name == "malformed_frame" || error.name == "too_many_values"));
  }
  CHECK(r.counter("good", "frames_malformed") == 5);
  r.router.put_bytes("bad", "\xc1");
  r.settle();
  CHECK(*r.info("good").find("sessions")->get_if<std::uint64_t>() == 1);
}

TEST_CASE("server: a message of several parts is refused whole") {
  Running r;
  r.hello("c");
  r.router.put_bytes("c", std::string("\x91\x01", 2), -1, 3);
  r.settle();
  CHECK(r.router.take_one<wire::ErrorFrame>("c").error.name == "malformed_frame");
}

TEST_CASE("server: a publish that cannot be decoded is refused message by message, and its sequences are used") {
  Running r;
  r.hello("p");
  // [4, "jobs", 1, ["text", "text"]]: payloads must be bin
  r.router.put_bytes("p", std::string("\x94\x04\xa4jobs\x01\x92\xa1x\xa1y"));
  r.settle();
  const auto confirm = r.router.take_one<wire::Confirm>("p");
  CHECK(confirm.up_to == 2);
  CHECK(confirm.refused.at(0).count == 2);
  CHECK(confirm.refused.at(0).error.name == "bad_field");
}

TEST_CASE("server: the number of sessions is limited, and the one beyond is told") {
  ServerOptions options;
  options.sessions_max = 1;
  Running r(options);
  r.hello("a");
  r.router.put("b", wire::Hello{});
  r.settle();
  CHECK(r.router.take_one<wire::ErrorFrame>("b").error.name == "session_limit");
}

TEST_CASE("server: a peer that does not read is dropped at its bound, and what it held goes to another") {
  ServerOptions options;
  options.outbox.line_bytes_max = 10'000;
  Running r(options);
  r.hello("p");
  r.hello("stuck");
  r.router.put("stuck", wire::Consume{1, 5, "jobs", 60'000, 1 << 30});
  r.settle();
  r.router.full.insert("stuck");
  const std::string payload(1'000, 'x');
  for (std::uint64_t sequence = 1; sequence <= 30; ++sequence) {
    r.router.put("p", publish("jobs", sequence, {{payload, {}, 0, 4}}));
    r.settle();
  }
  CHECK(r.counter("p", "sessions_slow") == 1);
  CHECK(*r.info("p").find("ready")->get_if<std::uint64_t>() == 30);
  CHECK(*r.info("p").find("outbox_bytes")->get_if<std::uint64_t>() == 0);
}

TEST_CASE("server: one turn takes a bounded number of frames") {
  Running r;
  r.hello("p");
  for (std::uint64_t sequence = 1; sequence <= 1'000; ++sequence)
    r.router.put("p", publish("jobs", sequence, {{"x", {}, 0, 4}}));
  r.server.turn();
  CHECK(r.router.incoming.size() > 0);
  CHECK(r.router.take_one<wire::Confirm>("p").up_to == 1'000 - r.router.incoming.size());
  const std::size_t waits = r.router.waits.size();
  r.server.turn();
  CHECK(r.router.waits.size() == waits);  // it knew that there was more
}

TEST_CASE("server: after a wake it looks again before it waits") {
  Running r;
  r.settle();
  r.router.wake = true;
  CHECK(r.server.turn() == Server::Next::look_for_signals);
  const std::size_t waits = r.router.waits.size();
  CHECK(r.server.turn() == Server::Next::turn);
  CHECK(r.router.waits.size() == waits);
  r.server.turn();
  CHECK(r.router.waits.size() == waits + 1);
}

TEST_CASE("server: server.info takes no arguments, and says so") {
  Running r;
  r.hello("c");
  r.router.put("c", wire::Request{3, "server.info", wire::Map().set("x", 1)});
  r.settle();
  CHECK(r.router.take_one<wire::Reply>("c").error->text == "x: no argument of this verb");
}

}  // namespace
}  // namespace sluice::server
