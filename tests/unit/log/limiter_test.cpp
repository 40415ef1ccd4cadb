#include "log/limiter.h"

#include <doctest/doctest.h>

#include "recording.h"

using namespace sluice::log;
using sluice::log::test::Recording;

TEST_CASE("limiter: at most so many lines a second of one name") {
  Recording record;
  Limiter limiter(record.logger, 3);
  for (int i = 0; i < 1'000; ++i) limiter.log(50, Level::warn, "session", "frame_refused", {{"i", i}});
  CHECK(record.lines().size() == 3);
  limiter.log(1'049, Level::warn, "session", "frame_refused");
  CHECK(record.lines().size() == 3);
}

TEST_CASE("limiter: the next second's first line tells what was left out, the second one does not") {
  Recording record;
  Limiter limiter(record.logger, 1);
  for (int i = 0; i < 10; ++i) limiter.log(0, Level::warn, "session", "frame_refused");
  limiter.log(1'000, Level::warn, "session", "frame_refused", {{"session", 7}});
  limiter.log(2'000, Level::warn, "session", "frame_refused");
  const auto events = record.events();
  REQUIRE(events.size() == 3);
  CHECK_FALSE(events[0].contains("suppressed"));
  CHECK(events[1]["suppressed"] == 9);
  CHECK(events[1]["session"] == 7);
  CHECK_FALSE(events[2].contains("suppressed"));
}

TEST_CASE("limiter: names do not share their limit") {
  Recording record;
  Limiter limiter(record.logger, 1);
  limiter.log(0, Level::warn, "session", "a");
  limiter.log(0, Level::warn, "session", "b");
  limiter.log(0, Level::warn, "session", "a");
  CHECK(record.lines().size() == 2);
}

TEST_CASE("limiter: tick tells what was left out when nothing else comes, once") {
  Recording record;
  Limiter limiter(record.logger, 1);
  for (int i = 0; i < 5; ++i) limiter.log(100, Level::warn, "session", "frame_refused");
  limiter.tick(200);
  CHECK(record.lines().size() == 1);
  limiter.tick(1'300);
  limiter.tick(9'000);
  const auto events = record.events();
  REQUIRE(events.size() == 2);
  CHECK(events[1]["msg"] == "frame_refused");
  CHECK(events[1]["component"] == "session");
  CHECK(events[1]["suppressed"] == 4);
}

TEST_CASE("limiter: what was left out last is told when it goes") {
  Recording record;
  {
    Limiter limiter(record.logger, 1);
    for (int i = 0; i < 4; ++i) limiter.log(0, Level::warn, "session", "frame_refused");
  }
  const auto events = record.events();
  REQUIRE(events.size() == 2);
  CHECK(events[1]["suppressed"] == 3);
}

TEST_CASE("limiter: every event is either a line or counted") {
  Recording record;
  Limiter limiter(record.logger, 5);
  for (std::uint64_t now_ms = 0; now_ms < 10'000; now_ms += 7) {
    limiter.log(now_ms, Level::warn, "session", "frame_refused");
    limiter.tick(now_ms);
  }
  limiter.tick(20'000);
  std::uint64_t lines = 0;
  std::uint64_t suppressed = 0;
  for (const auto& event : record.events()) {
    ++lines;
    suppressed += event.value("suppressed", std::uint64_t{0});
  }
  // The last tick's line is no event of its own.
  const bool last_is_tick = record.events().back().contains("suppressed");
  CHECK(lines + suppressed - (last_is_tick ? 1 : 0) == 1'429);
  CHECK(lines <= 5 * 11 + 11);
}

TEST_CASE("limiter: a level that is off is neither written nor counted") {
  Recording record(Level::error);
  Limiter limiter(record.logger, 1);
  for (int i = 0; i < 5; ++i) limiter.log(0, Level::warn, "session", "frame_refused");
  limiter.tick(5'000);
  CHECK(record.lines().empty());
}
