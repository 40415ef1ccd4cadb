#pragma once
// tests/unit/fakes/running.h: the real loop, sessions, engine and outbox over a fake network and clock.

#include <spdlog/sinks/null_sink.h>

#include "fake_router.h"
#include "server/server.h"

namespace sluice::server {

struct Running {
  explicit Running(const ServerOptions& options = {})
      : logger(log::Level::error, log::Format::json, std::make_shared<spdlog::sinks::null_sink_mt>(), [] { return 0; }),
        server(options, clock, router, journal, logger) {}

  // Turns until there is nothing more to do at this time.
  bool settle() {
    bool goes_on = true;
    do {
      goes_on = turn();
    } while (goes_on && (!router.incoming.empty()));
    return goes_on && turn();
  }
  bool turn() { return server.turn() != Server::Next::stop; }
  wire::Welcome hello(const std::string& route, int connection = -1) {
    router.put(route, wire::Hello{}, connection);
    settle();
    return router.take_one<wire::Welcome>(route);
  }
  wire::Map info(const std::string& route) {
    router.put(route, wire::Request{1, "server.info", {}});
    settle();
    return *router.take_one<wire::Reply>(route).result;
  }
  std::uint64_t counter(const std::string& route, std::string_view name) {
    return *info(route).find("counters")->get_if<wire::Map>()->find(name)->get_if<std::uint64_t>();
  }

  io::FakeClock clock;
  io::FakeRouter router;
  journal::MemoryJournal journal;
  log::Logger logger;
  Server server;
};

inline wire::Publish publish(std::string_view queue, std::uint64_t first, std::vector<wire::PublishMessage> messages) {
  wire::Publish frame;
  frame.queue = queue;
  frame.first_sequence = first;
  frame.messages = std::move(messages);
  return frame;
}

}  // namespace sluice::server
