#include <doctest/doctest.h>

#include "running.h"

namespace sluice::server {
namespace {

wire::Map ask(Running& r, const std::string& route, std::string_view verb, wire::Map arguments = {}) {
  r.router.put(route, wire::Request{5, std::string(verb), std::move(arguments)});
  r.settle();
  return *r.router.take_one<wire::Reply>(route).result;
}

TEST_CASE("sessions: are listed in order, in pages, with their names and what they have") {
  Running r;
  wire::Hello hello;
  hello.client = "first";
  r.router.put("a", hello);
  r.settle();
  r.hello("b");
  r.router.put("a", wire::Consume{1, 1, "jobs", 1, 1});
  r.settle();
  r.router.take("a");
  const wire::Map all = ask(r, "b", "session.list");
  const wire::Array& sessions = *all.find("sessions")->get_if<wire::Array>();
  REQUIRE(sessions.size() == 2);
  const wire::Map& first = *sessions[0].get_if<wire::Map>();
  CHECK(*first.find("client")->get_if<std::string>() == "first");
  CHECK(*first.find("consumers")->get_if<std::uint64_t>() == 1);
  CHECK_FALSE(*all.find("more")->get_if<bool>());
  const wire::Map page = ask(r, "b", "session.list", wire::Map().set("limit", 1));
  CHECK(*page.find("more")->get_if<bool>());
  const wire::Map rest =
      ask(r, "b", "session.list", wire::Map().set("after", *first.find("session")->get_if<std::uint64_t>()));
  CHECK(rest.find("sessions")->get_if<wire::Array>()->size() == 1);
}

TEST_CASE(
    "sessions: a closed one is told by whom, and its messages return; one may close itself and still be answered") {
  Running r;
  r.hello("p");
  const std::uint64_t victim = r.hello("c").session;
  r.router.put("p", publish("jobs", 1, {{"m", {}, 0, 4}}));
  r.router.put("c", wire::Consume{1, 5, "jobs", 1, 1'000});
  r.settle();
  r.router.take("c");
  r.router.take("p");
  CHECK(*ask(r, "p", "session.close", wire::Map().set("session", victim)).find("closed")->get_if<bool>());
  CHECK(r.router.take_one<wire::Bye>("c").code == static_cast<std::uint64_t>(ErrorCode::closed_by_operator));
  CHECK(*r.info("p").find("ready")->get_if<std::uint64_t>() == 1);
  CHECK_FALSE(*ask(r, "p", "session.close", wire::Map().set("session", victim)).find("closed")->get_if<bool>());
  const std::uint64_t self = r.hello("d").session;
  CHECK(*ask(r, "d", "session.close", wire::Map().set("session", self)).find("closed")->get_if<bool>());
  CHECK(*r.info("p").find("sessions")->get_if<std::uint64_t>() == 1);
}

TEST_CASE("drain: can be asked for by a request, which is answered") {
  Running r;
  r.hello("p");
  r.router.put("p", wire::Request{5, "server.drain", {}});
  CHECK_FALSE(r.settle());
  bool answered = false;
  for (const auto& frame : r.router.take("p"))
    if (const auto* reply = std::get_if<wire::Reply>(&frame)) answered = reply->result.has_value();
  CHECK(answered);
}

}  // namespace
}  // namespace sluice::server
