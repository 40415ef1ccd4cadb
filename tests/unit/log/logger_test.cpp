#include "log/logger.h"

#include <cstdlib>
#include <thread>

#include <doctest/doctest.h>

#include "recording.h"

using namespace sluice::log;
using sluice::log::test::Recording;

TEST_CASE("logger: one event is one line, with the level and the time it happened") {
  Recording record;
  record.logger.info("session", "session_opened", {{"session", 12}, {"client", std::string("billing")}});
  record.wall_ns += 1;
  record.logger.error("journal", "sync_failed");
  const auto events = record.events();
  REQUIRE(events.size() == 2);
  CHECK(events[0]["msg"] == "session_opened");
  CHECK(events[0]["level"] == "info");
  CHECK(events[0]["client"] == "billing");
  CHECK(events[0]["time"] == "2026-01-01T00:00:00.123456789Z");
  CHECK(events[1]["time"] == "2026-01-01T00:00:00.123456790Z");
  CHECK(events[1]["component"] == "journal");
}

TEST_CASE("logger: levels below the least one write nothing and do not ask the clock") {
  int asked = 0;
  std::ostringstream out;
  Logger logger(Level::warn, Format::json, std::make_shared<spdlog::sinks::ostream_sink_mt>(out),
                [&] { return ++asked; });
  logger.debug("a", "b");
  logger.info("a", "b");
  CHECK(asked == 0);
  CHECK(out.str().empty());
  logger.warn("a", "b");
  logger.error("a", "b");
  CHECK(asked == 2);
  CHECK_FALSE(logger.is_on(Level::info));
  CHECK(logger.is_on(Level::warn));
}

TEST_CASE("logger: braces and percent signs are text, not a format") {
  Recording record;
  record.logger.info("a", "b", {{"client", "{} {0} %v %n {"}});
  REQUIRE(record.events().size() == 1);
  CHECK(record.events()[0]["client"] == "{} {0} %v %n {");
}

TEST_CASE("logger: line ends in a text do not end the line") {
  Recording record(Level::debug, Format::text);
  record.logger.info("a", "b", {{"client", "x\nforged_event\r\n"}});
  CHECK(record.lines().size() == 1);
}

TEST_CASE("logger: colours come only when asked for") {
  Recording plain(Level::debug, Format::text);
  Recording coloured(Level::debug, Format::coloured_text);
  plain.logger.error("a", "b");
  coloured.logger.error("a", "b");
  CHECK(plain.text().find('\x1b') == std::string::npos);
  CHECK(coloured.text().find("\x1b[31mERROR") != std::string::npos);
}

TEST_CASE("logger: lines of several threads do not mix") {
  Recording record;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&record, thread] {
      for (int i = 0; i < 250; ++i) record.logger.info("a", "b", {{"thread", thread}, {"i", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(record.events().size() == 1'000);
}
