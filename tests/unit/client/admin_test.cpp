// Policies, bindings, consumers and sessions against a scripted broker: arguments, results, errors.

#include <future>
#include <string>

#include "fake_broker.h"
#include "sluice/client.h"

namespace sluice::test {
namespace {

struct Fixture {
  FakeBroker broker;
  Client client{broker.url(), quick_options()};

  // Runs `call` while the broker expects `verb` with just these arguments, and answers.
  template <class Call>
  auto ask(Call call, const std::string& verb, const wire::Map& arguments, const wire::Map& result) {
    auto returned = std::async(std::launch::async, call);
    const auto request = broker.expect<wire::Request>();
    CHECK(request->verb == verb);
    CHECK(request->arguments == arguments);
    broker.reply_ok(request->request, result);
    return returned.get();
  }
  // The code of the error with which `call` ends when the broker answers with `error`.
  template <class Call>
  int code_of(Call call, const wire::ErrorBody& error) {
    auto returned = std::async(std::launch::async, call);
    const auto request = broker.expect<wire::Request>();
    broker.send(wire::Reply{request->request, std::nullopt, error});
    return thrown_by([&] { returned.get(); });
  }
  template <class Call>
  static int thrown_by(Call call) {
    try {
      call();
    } catch (const ClientError& error) {
      return error.code();
    }
    return 0;
  }
};

wire::Map whole_policy() {
  return wire::Map()
      .set("overflow", "block")
      .set("block_timeout_ms", std::uint64_t{250})
      .set("ttl_ms", std::uint64_t{60'000})
      .set("on_expiry", "drop")
      .set("dedup_window_ms", std::uint64_t{0});
}

TEST_CASE_FIXTURE(Fixture, "admin: edit sends what is set, and returns the queue with its whole policy") {
  QueuePolicy policy;
  policy.overflow = "block";
  policy.block_timeout_ms = 250;
  policy.ttl_ms = 60'000;
  policy.on_expiry = "drop";
  policy.dedup_window_ms = 0;
  const QueueInfo info = ask([&] { return client.edit_queue("jobs", policy); }, "queue.edit",
                             wire::Map().set("name", "jobs").set("policy", whole_policy()),
                             wire::Map().set("name", "jobs").set("ready", 2).set("policy", whole_policy()));
  CHECK(info.name == "jobs");
  CHECK(info.ready == 2);
  CHECK_FALSE(info.paused);
  CHECK(info.policy.overflow == "block");
  CHECK(info.policy.block_timeout_ms == 250);
  CHECK(info.policy.ttl_ms == 60'000);
  CHECK(info.policy.on_expiry == "drop");
  CHECK(info.policy.dedup_window_ms == 0);
  CHECK_FALSE(info.policy.lease_ms);
}

TEST_CASE_FIXTURE(Fixture, "admin: a policy's text goes to the broker as it is, and its refusal comes back") {
  QueuePolicy policy;
  policy.overflow = "explode";
  const wire::ErrorBody error{203, "bad_policy", "overflow: must be one of reject, block, ...", false, 0};
  CHECK(code_of([&] { client.edit_queue("jobs", policy); }, error) == 203);
  CHECK(code_of([&] { client.declare_queue("jobs", policy); }, error) == 203);
  CHECK(code_of([&] { client.edit_queue("nope", policy); }, {201, "unknown_queue", "", false, 0}) == 201);
}

TEST_CASE_FIXTURE(Fixture, "admin: pause and resume return the queue as it is then") {
  const wire::Map name = wire::Map().set("name", "jobs");
  CHECK(
      ask([&] { return client.pause_queue("jobs"); }, "queue.pause", name, wire::Map(name).set("paused", true)).paused);
  const auto resumed =
      ask([&] { return client.resume_queue("jobs"); }, "queue.resume", name, wire::Map(name).set("paused", false));
  CHECK(resumed.name == "jobs");
  CHECK_FALSE(resumed.paused);
  const wire::ErrorBody error{201, "unknown_queue", "", false, 0};
  CHECK(code_of([&] { client.pause_queue("nope"); }, error) == 201);
  CHECK(code_of([&] { client.resume_queue("nope"); }, error) == 201);
}

TEST_CASE_FIXTURE(Fixture, "admin: bind and unbind say whether anything changed") {
  const wire::Map arguments = wire::Map().set("queue", "mail").set("pattern", "orders.*.#");
  const auto bind = [&] { return client.bind("mail", "orders.*.#"); };
  const auto unbind = [&] { return client.unbind("mail", "orders.*.#"); };
  CHECK(ask(bind, "bind.add", arguments, wire::Map().set("added", true)));
  CHECK_FALSE(ask(bind, "bind.add", arguments, wire::Map().set("added", false)));
  CHECK(ask(unbind, "bind.remove", arguments, wire::Map().set("removed", true)));
  CHECK_FALSE(ask(unbind, "bind.remove", arguments, wire::Map().set("removed", false)));
  CHECK(code_of(bind, {213, "binding_limit", "", true, 0}) == 213);
  CHECK(code_of(unbind, {201, "unknown_queue", "", false, 0}) == 201);
}

TEST_CASE_FIXTURE(Fixture, "admin: bad names and patterns are refused before anything is sent") {
  for (const std::string pattern : {"", "a..b", "a*", "#.a", "a b"}) {
    CHECK_MESSAGE(thrown_by([&] { client.bind("mail", pattern); }) == 211, pattern);
    CHECK_MESSAGE(thrown_by([&] { client.unbind("mail", pattern); }) == 211, pattern);
  }
  CHECK(thrown_by([&] { client.bind("", "a"); }) == 200);
  CHECK(thrown_by([&] { client.unbind("a b", "a"); }) == 200);
  CHECK(thrown_by([&] { client.edit_queue("", {}); }) == 200);
  CHECK(thrown_by([&] { client.pause_queue("-a"); }) == 200);
  CHECK(thrown_by([&] { client.resume_queue("a/b"); }) == 200);
  broker.sync(client);
  CHECK(broker.waiting() == 0);
}

TEST_CASE_FIXTURE(Fixture, "admin: bindings are listed page by page, the last one of a page asks for the next") {
  const auto page = [](const std::string& pattern, bool more) {
    const wire::Map entry = wire::Map().set("queue", "mail").set("pattern", pattern);
    return wire::Map().set("bindings", wire::Array{entry}).set("more", more);
  };
  const auto arguments = [](const std::string& after_queue, const std::string& after_pattern, std::uint64_t limit) {
    wire::Map map = wire::Map().set("queue", "mail").set("prefix", "m");
    map.set("after_queue", after_queue).set("after_pattern", after_pattern).set("limit", limit);
    return map;
  };
  const BindingList first = ask([&] { return client.list_bindings("mail", "m", {}, 1); }, "bind.list",
                                arguments("", "", 1), page("a.*", true));
  CHECK(first.more);
  REQUIRE(first.bindings == std::vector<Binding>{{"mail", "a.*"}});
  const BindingList second = ask([&] { return client.list_bindings("mail", "m", first.bindings.back()); }, "bind.list",
                                 arguments("mail", "a.*", 1'000), page("b", false));
  CHECK_FALSE(second.more);
  CHECK(second.bindings == std::vector<Binding>{{"mail", "b"}});
}

TEST_CASE_FIXTURE(Fixture, "admin: consumers are listed with what they hold and may take") {
  const wire::Map entry = wire::Map()
                              .set("queue", "jobs")
                              .set("session", UINT64_MAX)
                              .set("consumer", 2)
                              .set("held", 3)
                              .set("credit_messages", 13)
                              .set("credit_bytes", 4'096);
  const ConsumerList list = ask([&] { return client.list_consumers("jobs", "a", 7); }, "consumer.list",
                                wire::Map().set("queue", "jobs").set("after", "a").set("limit", 7),
                                wire::Map().set("consumers", wire::Array{entry, entry}).set("more", true));
  CHECK(list.more);
  REQUIRE(list.consumers.size() == 2);
  CHECK(list.consumers[1].queue == "jobs");
  CHECK(list.consumers[1].session == UINT64_MAX);
  CHECK(list.consumers[1].consumer == 2);
  CHECK(list.consumers[1].held == 3);
  CHECK(list.consumers[1].credit_messages == 13);
  CHECK(list.consumers[1].credit_bytes == 4'096);
  CHECK(ask([&] { return client.list_consumers(); }, "consumer.list",
            wire::Map().set("queue", "").set("after", "").set("limit", 1'000),
            wire::Map().set("consumers", wire::Array{}).set("more", false))
            .consumers.empty());
  CHECK(code_of([&] { client.list_consumers("nope"); }, {201, "unknown_queue", "", false, 0}) == 201);
}

TEST_CASE_FIXTURE(Fixture, "admin: sessions are listed with their client, age and backlog") {
  const wire::Map entry = wire::Map()
                              .set("session", 12)
                              .set("client", "worker")
                              .set("agent", "sluice-cpp")
                              .set("consumers", 2)
                              .set("connected_ms", 90'000)
                              .set("idle_ms", 40)
                              .set("outbox_bytes", 512);
  const SessionList list =
      ask([&] { return client.list_sessions(11, 1); }, "session.list", wire::Map().set("after", 11).set("limit", 1),
          wire::Map().set("sessions", wire::Array{entry}).set("more", true));
  CHECK(list.more);
  REQUIRE(list.sessions.size() == 1);
  CHECK(list.sessions[0].session == 12);
  CHECK(list.sessions[0].client == "worker");
  CHECK(list.sessions[0].agent == "sluice-cpp");
  CHECK(list.sessions[0].consumers == 2);
  CHECK(list.sessions[0].connected_ms == 90'000);
  CHECK(list.sessions[0].idle_ms == 40);
  CHECK(list.sessions[0].outbox_bytes == 512);
  // The largest page that the broker gives.
  CHECK_FALSE(ask([&] { return client.list_sessions(); }, "session.list", wire::Map().set("after", 0).set("limit", 500),
                  wire::Map().set("sessions", wire::Array{}).set("more", false))
                  .more);
}

TEST_CASE_FIXTURE(Fixture, "admin: a session is closed, or there is none; drain returns with the reply") {
  const wire::Map arguments = wire::Map().set("session", 12);
  CHECK(ask([&] { return client.close_session(12); }, "session.close", arguments, wire::Map().set("closed", true)));
  CHECK_FALSE(
      ask([&] { return client.close_session(12); }, "session.close", arguments, wire::Map().set("closed", false)));
  ask([&] { client.drain_server(); }, "server.drain", {}, {});
  CHECK(code_of([&] { client.drain_server(); }, {208, "unsupported", "", false, 0}) == 208);
}

TEST_CASE_FIXTURE(Fixture, "admin: peek tells when a message expires, and nothing for one that never does") {
  const wire::Map mortal = wire::Map().set("id", 1).set("expires_ms", std::uint64_t{1'700'000'000'000});
  const MessageList list =
      ask([&] { return client.peek("jobs"); }, "queue.peek",
          wire::Map().set("name", "jobs").set("limit", 10).set("after", 0),
          wire::Map().set("messages", wire::Array{mortal, wire::Map().set("id", 2)}).set("more", false));
  REQUIRE(list.messages.size() == 2);
  CHECK(list.messages[0].expires_ms == 1'700'000'000'000);
  CHECK_FALSE(list.messages[1].expires_ms);
}

}  // namespace
}  // namespace sluice::test
