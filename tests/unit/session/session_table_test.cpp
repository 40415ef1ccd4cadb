#include "session/session_table.h"

#include <doctest/doctest.h>

namespace sluice::session {
namespace {

TEST_CASE("session table: finds by route, number and connection, and forgets all three together") {
  SessionTable table;
  const SessionId id = table.open("route-1", 7, 1'000, 0).id;
  CHECK(table.find("route-1")->id == id);
  CHECK(table.find(id)->route == "route-1");
  CHECK(table.find_connection(7)->id == id);
  table.close(id);
  CHECK(table.find("route-1") == nullptr);
  CHECK(table.find(id) == nullptr);
  CHECK(table.find_connection(7) == nullptr);
  CHECK(table.size() == 0);
}

TEST_CASE(
    "session table: a connection that was taken over by a newer session stays the newer one's when the old one "
    "closes") {
  SessionTable table;
  const SessionId old = table.open("route-1", 7, 1'000, 0).id;
  const SessionId young = table.open("route-2", 7, 1'000, 0).id;
  table.close(old);
  REQUIRE(table.find_connection(7) != nullptr);
  CHECK(table.find_connection(7)->id == young);
}

TEST_CASE("session table: numbers are not used again") {
  SessionTable table;
  const SessionId first = table.open("a", -1, 1'000, 0).id;
  table.close(first);
  CHECK(table.open("a", -1, 1'000, 0).id != first);
}

TEST_CASE("session table: routes of 0, 255 and 300 bytes, and with any bytes, are kept apart") {
  SessionTable table;
  const std::string zero("\0a", 2);
  const std::string zeros("\0b", 2);
  const SessionId one = table.open(zero, 1, 1'000, 0).id;
  const SessionId two = table.open(zeros, 2, 1'000, 0).id;
  const SessionId three = table.open(std::string(255, 'x'), 3, 1'000, 0).id;
  const SessionId four = table.open(std::string(300, 'x'), 4, 1'000, 0).id;
  CHECK(table.find(zero)->id == one);
  CHECK(table.find(zeros)->id == two);
  CHECK(table.find(std::string(255, 'x'))->id == three);
  CHECK(table.find(std::string(300, 'x'))->id == four);
}

TEST_CASE(
    "session table: a heartbeat is due after an interval without telling, a session is silent after three without "
    "hearing") {
  SessionTable table;
  Session& session = table.open("a", -1, 1'000, 0);
  CHECK(table.check(999).to_tell.empty());
  CHECK(table.check(1'000).to_tell.size() == 1);
  session.told_ms = 1'500;  // something was sent
  CHECK(table.check(2'000).to_tell.empty());
  CHECK(table.check(2'500).to_tell.size() == 1);
  CHECK(table.check(2'999).silent.empty());
  CHECK(table.check(3'000).silent.size() == 1);
}

TEST_CASE("session table: each session has its own interval") {
  SessionTable table;
  table.open("slow", -1, 60'000, 0);
  const SessionId quick = table.open("quick", -1, 100, 0).id;
  const auto due = table.check(300);
  REQUIRE(due.silent.size() == 1);
  CHECK(due.silent[0] == quick);
}

TEST_CASE("session table: nobody is silent for time in which the broker itself did not run") {
  SessionTable table;
  table.open("a", -1, 1'000, 0);
  table.forgive(60'000);
  CHECK(table.check(62'999).silent.empty());
  CHECK(table.check(63'000).silent.size() == 1);
}

TEST_CASE("session table: without sessions there is nothing to check for") {
  SessionTable table;
  CHECK_FALSE(table.next_check_ms().has_value());
  const SessionId id = table.open("a", -1, 1'000, 0).id;
  CHECK(table.next_check_ms() == 1'000U);
  table.close(id);
  table.check(1'000);
  CHECK_FALSE(table.next_check_ms().has_value());
}

}  // namespace
}  // namespace sluice::session
