#include "base/units.h"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace sluice;

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

std::string refusal(const Result<std::uint64_t>& result) {
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::bad_field);
  return result.error().text;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("units: every duration unit is read") {
  CHECK(parse_duration_ms("250ms") == 250U);
  CHECK(parse_duration_ms("5s") == 5'000U);
  CHECK(parse_duration_ms("2m") == 120'000U);
  CHECK(parse_duration_ms("1.5h") == 5'400'000U);
  CHECK(parse_duration_ms("10d") == 864'000'000U);
  CHECK(parse_duration_ms("0s") == 0U);
  CHECK(parse_duration_ms("0.0s") == 0U);
  CHECK(parse_duration_ms("007s") == 7'000U);
}

TEST_CASE("units: what is finer than a millisecond is cut off") {
  CHECK(parse_duration_ms("1.0009s") == 1'000U);
  CHECK(parse_duration_ms("2.999999999999999999999999s") == 2'999U);
}

TEST_CASE("units: a duration without a unit is refused with the rule and the value") {
  const std::string text = refusal(parse_duration_ms("30"));
  CHECK(contains(text, "ms, s, m, h or d"));
  CHECK(contains(text, "'30'"));
  CHECK(contains(text, "unit is missing"));
  CHECK(contains(refusal(parse_duration_ms("0")), "unit is missing"));
}

TEST_CASE("units: a negative number is refused as such") {
  CHECK(contains(refusal(parse_duration_ms("-5s")), "cannot be negative"));
  CHECK(contains(refusal(parse_bytes("-1")), "cannot be negative"));
}

TEST_CASE("units: a value that would be cut to zero is refused") {
  CHECK(contains(refusal(parse_duration_ms("0.0001s")), "too small"));
  CHECK(contains(refusal(parse_duration_ms("0.5ms")), "too small"));
  CHECK(contains(refusal(parse_bytes("0.9B")), "too small"));
}

TEST_CASE("units: a number that does not fit is refused, not wrapped") {
  CHECK(parse_duration_ms("18446744073709551615ms") == kMax);
  CHECK(contains(refusal(parse_duration_ms("18446744073709551616ms")), "too large"));
  CHECK(contains(refusal(parse_duration_ms("18446744073709551615s")), "too large"));
  CHECK(contains(refusal(parse_duration_ms("213503982335d")), "too large"));
  CHECK(parse_bytes("16777215TiB") == std::uint64_t{16'777'215} << 40U);
  CHECK(contains(refusal(parse_bytes("16777216TiB")), "too large"));
  // Whole part fits, the sum does not.
  CHECK(contains(refusal(parse_duration_ms("18446744073709551.616s")), "too large"));
}

TEST_CASE("units: every size unit is read") {
  CHECK(parse_bytes("0") == 0U);
  CHECK(parse_bytes("512") == 512U);
  CHECK(parse_bytes("512B") == 512U);
  CHECK(parse_bytes("64KiB") == 65'536U);
  CHECK(parse_bytes("8MiB") == 8'388'608U);
  CHECK(parse_bytes("1GiB") == 1'073'741'824U);
  CHECK(parse_bytes("1.5TiB") == 1'649'267'441'664U);
  CHECK(parse_bytes("1kB") == 1'000U);
  CHECK(parse_bytes("1KB") == 1'000U);
  CHECK(parse_bytes("10MB") == 10'000'000U);
  CHECK(parse_bytes("2GB") == 2'000'000'000U);
  CHECK(parse_bytes("1TB") == 1'000'000'000'000U);
}

TEST_CASE("units: what is no number with a unit is refused") {
  const std::vector<std::string> wrong = {
      "",    " ",   "s",     "5 s",    " 5s",  "5s ",  "+5s",   "1e3s", "0x10s", "5S", "5sec",
      "1.s", ".5s", "1..5s", "1.5.5s", "1,5s", "5ms5", "1h30m", "infs", "nans",  "٣s", std::string("5s\0", 3)};
  for (const std::string& text : wrong) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration_ms(text).has_value());
    CHECK_FALSE(parse_bytes(text).has_value());
  }
  for (const char* text : {"64K", "64kib", "64Kb", "64mb"}) CHECK_FALSE(parse_bytes(text).has_value());
}

TEST_CASE("units: a refusal quotes hostile text cut and printable") {
  const std::string text = refusal(parse_bytes(std::string(10'000, 'x') + "\x1b[31m"));
  CHECK(text.size() < 300);
  CHECK(contains(refusal(parse_bytes("\x1b[31m\n")), "'?[31m?'"));
}

TEST_CASE("units: durations are written with the largest unit that is exact and short") {
  CHECK(format_duration_ms(0) == "0s");
  CHECK(format_duration_ms(1) == "1ms");
  CHECK(format_duration_ms(999) == "999ms");
  CHECK(format_duration_ms(1'001) == "1.001s");
  CHECK(format_duration_ms(30'000) == "30s");
  CHECK(format_duration_ms(61'500) == "61.5s");
  CHECK(format_duration_ms(90'000) == "1.5m");
  CHECK(format_duration_ms(5'400'000) == "1.5h");
  CHECK(format_duration_ms(25 * 3'600'000) == "25h");
  CHECK(format_duration_ms(36 * 3'600'000) == "1.5d");
}

TEST_CASE("units: sizes are written in binary units, else decimal ones, else bytes") {
  CHECK(format_bytes(0) == "0B");
  CHECK(format_bytes(512) == "512B");
  CHECK(format_bytes(1'536) == "1.5KiB");
  CHECK(format_bytes(65'536) == "64KiB");
  CHECK(format_bytes(8'388'608) == "8MiB");
  CHECK(format_bytes(10'000'000) == "10MB");
  CHECK(format_bytes(1'234'567) == "1234567B");
}

TEST_CASE("units: what format writes, parse reads as the same number") {
  const auto number = [] {
    const auto shift = *rc::gen::inRange(0U, 64U);
    return *rc::gen::arbitrary<std::uint64_t>() >> shift;
  };
  CHECK(rc::check("duration", [&] {
    const std::uint64_t value = number();
    RC_ASSERT(parse_duration_ms(format_duration_ms(value)) == value);
  }));
  CHECK(rc::check("bytes", [&] {
    const std::uint64_t value = number() * *rc::gen::element<std::uint64_t>(1, 1'000, 1'024, 1U << 20U);
    RC_ASSERT(parse_bytes(format_bytes(value)) == value);
  }));
  CHECK(parse_duration_ms(format_duration_ms(kMax)) == kMax);
  CHECK(parse_bytes(format_bytes(kMax)) == kMax);
}

TEST_CASE("units: any bytes are read or refused") {
  CHECK(rc::check([](const std::string& text) {
    const auto duration = parse_duration_ms(text);
    const auto bytes = parse_bytes(text);
    if (!duration) RC_ASSERT(duration.error().code == ErrorCode::bad_field);
    if (!bytes) RC_ASSERT(bytes.error().code == ErrorCode::bad_field);
  }));
}
