#include "cli/options.h"

#include <doctest/doctest.h>

#include <optional>

using namespace sluice::cli;

TEST_CASE("options: whole numbers are decimal, in range and nothing else") {
  CHECK(parse_number("--n", "0", {0, 10}) == 0);
  CHECK(parse_number("--n", "010", {0, 10}) == 10);
  CHECK(parse_number("--n", "9223372036854775807", {}) == 9223372036854775807u);
  for (const char* const bad :
       {"", "-1", "+1", "11", "1.5", "0x5", " 1", "1 ", "1e1", "ten", "18446744073709551616", "99999999999999999999"})
    CHECK_THROWS_AS_MESSAGE(parse_number("--n", bad, {0, 10}), CLI::ValidationError, bad);
  CHECK_THROWS_AS(parse_number("--n", "9223372036854775808", {}), CLI::ValidationError);
}

TEST_CASE("options: an error names flag, rule and value") {
  try {
    parse_number("--priority", "12", {0, 9});
    FAIL("12 was taken");
  } catch (const CLI::ValidationError& error) {
    CHECK(std::string(error.what()) == "--priority: must be a whole number from 0 to 9, not '12'");
  }
}

TEST_CASE("options: decimals are finite and in range") {
  CHECK(parse_decimal("--rate", "2.5", 0, 10) == 2.5);
  for (const char* const bad : {"", "nan", "inf", "-1", "11", "1x", "1,5"})
    CHECK_THROWS_AS_MESSAGE(parse_decimal("--rate", bad, 0, 10), CLI::ValidationError, bad);
}

TEST_CASE("options: durations and sizes have the units that people write") {
  CHECK(parse_duration("--wait", "1.5s") == 1'500);
  CHECK(parse_size("--size", "64KiB") == 65'536);
  CHECK_THROWS_AS(parse_duration("--wait", "5"), CLI::ValidationError);
  CHECK_THROWS_AS(parse_size("--size", "64KX"), CLI::ValidationError);
}

TEST_CASE("options: global flags reach their values, and the last one counts") {
  CLI::App app;
  Globals globals;
  add_globals(app, globals);
  app.parse(std::vector<std::string>{"--json", "never", "--color", "250ms", "--timeout", "tcp://b:2", "--url",
                                     "tcp://a:1", "--url"});
  CHECK(globals.url == "tcp://b:2");
  CHECK(globals.timeout_ms == 250);
  CHECK(globals.json);
  CHECK(globals.color == ColorMode::never);
}

TEST_CASE("options: an optional stays empty until its flag is given") {
  CLI::App app;
  std::optional<std::uint32_t> prefetch;
  add_number(app, "--prefetch", prefetch, {1, 65'535}, "");
  app.parse(std::vector<std::string>{});
  CHECK_FALSE(prefetch);
  app.parse(std::vector<std::string>{"7", "--prefetch"});
  CHECK(prefetch == 7);
}
