#include "wire/tape.h"

#include <doctest/doctest.h>

#include <string>

#include "wire/codec.h"

using namespace sluice::wire;
using namespace std::string_literals;

namespace {

ScanError scan(const std::string& bytes) {
  Tape tape;
  return tape.scan(bytes);
}

}  // namespace

TEST_CASE("tape: a value of every kind is one token") {
  Tape tape;
  // [nil, true, 7, -1, 0.5, "ab", bin 1, {}]
  const std::string bytes = "\x98\xc0\xc3\x07\xff\xca\x3f\x00\x00\x00\xa2"s + "ab\xc4\x01\x01\x80";
  REQUIRE(tape.scan(bytes) == ScanError::none);
  const auto tokens = tape.tokens();
  REQUIRE(tokens.size() == 9);
  CHECK(tokens[0].kind == Kind::array);
  CHECK(tokens[0].count == 8);
  CHECK(tokens[1].kind == Kind::nil);
  CHECK(tokens[2].kind == Kind::boolean);
  CHECK(tokens[2].number == 1);
  CHECK(tokens[3].kind == Kind::uint);
  CHECK(tokens[3].number == 7);
  CHECK(tokens[4].kind == Kind::negative);
  CHECK(static_cast<std::int64_t>(tokens[4].number) == -1);
  CHECK(tokens[5].kind == Kind::real);
  CHECK(tokens[5].real == 0.5);
  CHECK(tokens[6].kind == Kind::str);
  CHECK(tokens[6].view() == "ab");
  CHECK(tokens[7].kind == Kind::bin);
  CHECK(tokens[7].view() == "\x01");
  CHECK(tokens[8].kind == Kind::map);
  CHECK(tokens[8].count == 0);
}

TEST_CASE("tape: positive numbers in signed formats are uint") {
  for (const std::string& bytes :
       {"\xd0\x07"s, "\xd1\x00\x07"s, "\xd2\x00\x00\x00\x07"s, "\xd3\x00\x00\x00\x00\x00\x00\x00\x07"s}) {
    Tape tape;
    REQUIRE(tape.scan(bytes) == ScanError::none);
    CHECK(tape.tokens()[0].kind == Kind::uint);
    CHECK(tape.tokens()[0].number == 7);
  }
}

TEST_CASE("tape: skip passes over a value with all that it holds") {
  Tape tape;
  // [[1, {"a": [2, 3]}], 4]
  REQUIRE(tape.scan("\x92\x92\x01\x81\xa1\x61\x92\x02\x03\x04"s) == ScanError::none);
  CHECK(tape.skip(1) == 8);
  CHECK(tape.skip(2) == 3);
  CHECK(tape.skip(3) == 8);
  CHECK(tape.skip(8) == 9);
  CHECK(tape.skip(0) == 9);
}

TEST_CASE("tape: after an error the tokens before it are there, and skip stays within them") {
  Tape tape;
  REQUIRE(tape.scan("\x94\x04\xa1q\x07\x92\xc4\x01"s) == ScanError::truncated);
  REQUIRE(tape.tokens().size() == 5);
  CHECK(tape.tokens()[3].number == 7);
  CHECK(tape.tokens()[4].kind == Kind::array);
  CHECK(tape.skip(4) == 5);
  CHECK(tape.skip(0) == 5);
}

TEST_CASE("tape: nothing of an earlier scan is left") {
  Tape tape;
  REQUIRE(tape.scan("\x93\x01\x02\x03"s) == ScanError::none);
  REQUIRE(tape.scan(""s) == ScanError::empty);
  CHECK(tape.tokens().empty());
  REQUIRE(tape.scan("\xc0"s) == ScanError::none);
  CHECK(tape.tokens().size() == 1);
  REQUIRE(tape.scan("\xc1"s) == ScanError::bad_format);
  CHECK(tape.tokens().empty());
}

TEST_CASE("tape: depth is allowed up to its limit, also of containers that are empty") {
  CHECK(scan(std::string(kDepthMax - 1, '\x91') + '\x90') == ScanError::none);
  CHECK(scan(std::string(kDepthMax, '\x91') + '\x01') == ScanError::none);
  CHECK(scan(std::string(kDepthMax, '\x91') + '\x90') == ScanError::too_deep);
  CHECK(scan(std::string(kDepthMax, '\x91') + '\x80') == ScanError::too_deep);
  // Side by side is not deep.
  CHECK(scan("\x93\x91\x90\x91\x90\x91\x90"s) == ScanError::none);
}

TEST_CASE("tape: values are allowed up to their limit, however they are spread") {
  const auto array32 = [](std::size_t count) {
    std::string head = "\xdd";
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(count >> shift & 0xff);
    return head;
  };
  CHECK(scan(array32(kValuesMax - 1) + std::string(kValuesMax - 1, '\xc0')) == ScanError::none);
  CHECK(scan(array32(kValuesMax) + std::string(kValuesMax, '\xc0')) == ScanError::too_many_values);
  // 131,072 arrays of one nil and the array around them are one value too many.
  std::string pairs;
  for (std::size_t i = 0; i < kValuesMax / 2; ++i) pairs += "\x91\xc0";
  CHECK(scan(array32(kValuesMax / 2) + pairs) == ScanError::too_many_values);
  CHECK(scan(array32(kValuesMax / 2 - 1) + pairs.substr(2)) == ScanError::none);
}

TEST_CASE("tape: a stated count is refused by the bytes left before anything is read by it") {
  CHECK(scan("\xdd\xff\xff\xff\xff"s) == ScanError::truncated);
  CHECK(scan("\xdf\xff\xff\xff\xff"s) == ScanError::truncated);
  CHECK(scan("\x92\x92\x01\x01"s) == ScanError::truncated);
  CHECK(scan("\xdf\x00\x00\x00\x02\xa1\x61\x01"s) == ScanError::truncated);
  Tape tape;
  // More pairs than fit, though fewer than there are bytes.
  CHECK(tape.scan("\x83\xa1\x61\x01\xa1"s) == ScanError::truncated);
  CHECK(tape.tokens().empty());
}
