// What a reader refuses, and what it says then.

#include <doctest/doctest.h>

#include "samples.h"

using namespace sluice::record;
using namespace std::string_literals;

namespace {

// A record of these fields.
std::string record(Type type, const std::string& fields) {
  const auto length = static_cast<std::uint32_t>(fields.size());
  std::string out(1, static_cast<char>(type));
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(length >> (8 * i) & 0xffU);
  return out + fields;
}

std::string error_of(Type type, const std::string& fields) { return decode(record(type, fields)).error; }

const std::string kRunHead = "\1\1\1\1\0\0"s;  // queue, first_key, first_id, published_ms, producer, first_sequence
const std::string kOne = "\1\0\0\0"s;

}  // namespace

TEST_CASE("records: nothing is no record, and no error") {
  const Decoded decoded = decode("");
  CHECK(decoded.records.empty());
  CHECK(decoded.error == "");
}

TEST_CASE("records: an error names the record, the field, the rule and the byte at which the record begins") {
  const std::string good = record(Type::opened, "\1");
  const Decoded decoded = decode(good + record(Type::ended, "\1\1\0"s) + good);
  CHECK(decoded.records.size() == 1);
  CHECK(decoded.error == "6: ended: count: must be at least 1");
}

TEST_CASE("records: after an error nothing more is read") {
  const std::string bytes = record(Type::ended, "\1\1\0"s) + record(Type::opened, "\1");
  RecordReader reader(as_bytes(bytes));
  CHECK_FALSE(reader.next().has_value());
  CHECK(reader.error().has_value());
  CHECK_FALSE(reader.next().has_value());
  CHECK(reader.error()->offset == 0);
}

TEST_CASE("records: the reader tells where each record stands") {
  const std::string bytes = record(Type::opened, "\1") + record(Type::replayed, "\1\2\3");
  RecordReader reader(as_bytes(bytes));
  REQUIRE(reader.next().has_value());
  CHECK(reader.offset() == 0);
  CHECK(reader.record_bytes() == 6);
  REQUIRE(reader.next().has_value());
  CHECK(reader.offset() == 6);
  CHECK(reader.record_bytes() == 8);
}

TEST_CASE("records: types that are not known are refused") {
  for (const int type : {0, 20, 64, 255}) {
    CAPTURE(type);
    CHECK(error_of(static_cast<Type>(type), "\1") == "0: type " + std::to_string(type) + " is not known");
  }
}

TEST_CASE("records: a head or length that goes past the end is refused") {
  CHECK(decode("\x11").error == "0: opened: length: the record ends before it");
  CHECK(decode("\x11\1\0\0"s).error == "0: opened: length: the record ends before it");
  CHECK(decode("\x11\1\0\0\0"s).error == "0: opened: length: 1 goes past the end, 0 bytes are left");
  CHECK(decode("\x11\xff\xff\xff\xff\1"s).error == "0: opened: length: 4294967295 goes past the end, 1 bytes are left");
}

TEST_CASE("records: bytes left over are refused") {
  CHECK(error_of(Type::opened, "\1\0"s) == "0: opened: fields: end before the record does; bytes left over: 1");
}

TEST_CASE("records: a number that is not in its shortest form is refused") {
  CHECK(error_of(Type::opened, "\x80\0"s) == "0: opened: at_ms: is a number that is not in its shortest form");
  CHECK(error_of(Type::opened, "\xff\x80\0"s) == "0: opened: at_ms: is a number that is not in its shortest form");
}

TEST_CASE("records: a number has at most ten bytes and 64 bits") {
  const std::string nine(9, '\xff');
  CHECK(std::get<Opened>(decode(record(Type::opened, nine + "\1")).records.at(0)).at_ms == kMax);
  CHECK(error_of(Type::opened, nine + "\2") == "0: opened: at_ms: is a number above 2^64-1");
  CHECK(error_of(Type::opened, nine + "\x81\0"s) == "0: opened: at_ms: is a number above 2^64-1");
  CHECK(error_of(Type::opened, nine) == "0: opened: at_ms: the record ends before it");
}

TEST_CASE("records: a text that goes past its record is refused, also when there are bytes behind the record") {
  const std::string bytes = record(Type::bound, "\1\4abc") + "dddd";
  CHECK(decode(bytes).error == "0: bound: pattern: goes past the end of the record, bytes 4");
  CHECK(error_of(Type::bound, "\1" + std::string(9, '\xff') + "\1") ==
        "0: bound: pattern: goes past the end of the record, bytes 18446744073709551615");
}

TEST_CASE("records: numbers that stand for nothing are refused") {
  for (const char how : {'\0', '\5', '\xff'}) CHECK(error_of(Type::ended, std::string{how} + "\1\1") != "");
  CHECK(error_of(Type::ended, "\5\1\1") == "0: ended: how: is none that is known: 5");
  CHECK(error_of(Type::returned, "\1\0\0\0\0"s) == "0: returned: cause: is none that is known: 0");
  CHECK(error_of(Type::returned, "\1\6\0\0\0"s) == "0: returned: cause: is none that is known: 6");
  CHECK(error_of(Type::returned, "\1\1\2\0\0"s) == "0: returned: flags: has a bit that is not known: 2");
  CHECK(error_of(Type::dead_lettered, "\1\6\1\1\1\0\1\0"s) == "0: dead_lettered: cause: is none that is known: 6");
  CHECK(error_of(Type::dead_lettered, "\1\0\1\1\0\0\1\0"s) == "0: dead_lettered: reason: is none that is known: 0");
  CHECK(error_of(Type::dead_lettered, "\1\0\1\1\5\0\1\0"s) == "0: dead_lettered: reason: is none that is known: 5");
  const std::string message = "\1\1\4\0\0\0\0\0\0\1"s;
  CHECK(error_of(Type::message, message + "\1\1\1\3\0\0\0\0\0\0\0\0\0\0\0"s) ==
        "0: message: state: is none that is known: 3");
  CHECK(error_of(Type::message, message + "\1\1\1\0\0\0\4\0\0\0\0\0\0\0\0"s) ==
        "0: message: copy flags: has a bit that is not known: 4");
  CHECK(error_of(Type::message, message + "\1\1\1\0\0\0\0\0\0\0\0\0\0\0\2"s) ==
        "0: message: dead: has a bit that is not known: 2");
  CHECK(error_of(Type::message, "\1\1\12\0\0\0\0\0\0\1"s) == "0: message: priority: must be at most 9, is 10");
}

TEST_CASE("records: a queue's flags, overflow, on_expiry and factors are looked at") {
  const Policy policy{};
  RecordWriter out;
  out.queue({1, "q", true, true, false, policy, {}});
  const std::string good = to_string(out.bytes());
  REQUIRE(decode(good).error == "");
  const std::size_t flags = 5 + 3;
  const std::size_t factor = flags + 4;
  const std::size_t jitter = factor + 8 + 1;
  const std::size_t overflow = jitter + 8 + 2;
  const auto with = [&good](std::size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return decode(bytes).error;
  };
  CHECK(with(flags, 8) == "0: queue: flags: has a bit that is not known: 8");
  CHECK(with(overflow, 4) == "0: queue: overflow: is none that is known: 4");
  CHECK(with(overflow + 3, 2) == "0: queue: on_expiry: is none that is known: 2");
  std::string infinite = good;
  infinite.replace(factor, 8, "\0\0\0\0\0\0\xf0\x7f"s);
  CHECK(decode(infinite).error == "0: queue: backoff_factor: must be a finite number");
  std::string nan = good;
  nan.replace(jitter, 8, "\0\0\0\0\0\0\xf8\x7f"s);
  CHECK(decode(nan).error == "0: queue: backoff_jitter: must be a finite number");
}

TEST_CASE("records: counts of 0 are refused where nothing would be said") {
  CHECK(error_of(Type::delivered, "\1\1\0"s) == "0: delivered: count: must be at least 1");
  CHECK(error_of(Type::published, kRunHead + "\0\0\0\0"s) == "0: published: count: must be at least 1");
  CHECK(error_of(Type::message, "\1\1\4\0\0\0\0\0\0\0"s) == "0: message: count: must be at least 1");
  CHECK(error_of(Type::refused, "\1\1\0\1\0"s) == "0: refused: count: must be at least 1");
  CHECK(error_of(Type::producer, "\1\0\1\1\1\1\0\0"s) == "0: producer: count: must be at least 1");
}

TEST_CASE("records: a range does not go above 2^64-1") {
  const std::string max = std::string(9, '\xff') + "\1";
  CHECK(error_of(Type::ended, "\1" + max + "\1") == "");
  CHECK(error_of(Type::ended, "\1" + max + "\2") == "0: ended: count: makes numbers above 2^64-1: 2");
  CHECK(error_of(Type::ended, "\1\2" + max) == "0: ended: count: makes numbers above 2^64-1: 18446744073709551615");
  CHECK(error_of(Type::delivered, "\1" + max + "\2") == "0: delivered: count: makes numbers above 2^64-1: 2");
}

TEST_CASE("records: a count of more items than the record can hold is refused before anything is made for it") {
  CHECK(error_of(Type::published, kRunHead + "\xff\xff\xff\xff" + std::string(30, '\0')) ==
        "0: published: count: is more than the record can hold: 4294967295");
  CHECK(error_of(Type::published, kRunHead + "\2\0\0\0"s + std::string(5, '\0')) ==
        "0: published: count: is more than the record can hold: 2");
  const std::string max = std::string(9, '\xff') + "\1";
  CHECK(error_of(Type::message, "\1\1\4\0\0\0\0\0\0"s + max) ==
        "0: message: count: is more than the record can hold: 18446744073709551615");
  CHECK(error_of(Type::producer, "\1\0\1"s + max) ==
        "0: producer: accepted count: is more than the record can hold: 18446744073709551615");
  CHECK(error_of(Type::producer, "\1\0\1\0"s + max) ==
        "0: producer: refused count: is more than the record can hold: 18446744073709551615");
}

TEST_CASE("records: a message of a run has one form: what is the default is not written") {
  const auto message = [](const std::string& bytes) { return error_of(Type::published, kRunHead + kOne + bytes); };
  CHECK(message("\0\0\0"s) == "");
  CHECK(message("\1\3\0\0"s) == "");
  CHECK(message("\1\4\0\0"s) == "0: published: message flags: must not announce a default: 1");
  CHECK(message("\2\0\0\0"s) == "0: published: message flags: must not announce a default: 2");
  CHECK(message("\4\0\0\0"s) == "0: published: message flags: must not announce a default: 4");
  CHECK(message("\10\0\0\0"s) == "0: published: message flags: must not announce a default: 8");
  CHECK(message("\20\0\0"s) == "0: published: message flags: has a bit that is not known: 16");
  CHECK(message("\1\12\0\0"s) == "0: published: priority: must be at most 9, is 10");
}

TEST_CASE("records: a body that goes past its run is refused") {
  CHECK(error_of(Type::published, kRunHead + kOne + "\0\1\1a"s) ==
        "0: published: payload: goes past the end of the record, bytes 1");
  CHECK(error_of(Type::published, kRunHead + kOne + "\0\2\0a"s) ==
        "0: published: headers: goes past the end of the record, bytes 2");
}

TEST_CASE("records: a sample cut anywhere gives the records before the cut, and an error but between two records") {
  const std::string whole = sample_bytes();
  const Decoded all = decode(whole);
  REQUIRE(all.error == "");
  REQUIRE(all.records.size() == kTypeCount);
  std::size_t whole_records = 0;
  std::size_t next_end = 0;
  RecordReader reader(as_bytes(whole));
  reader.next();
  next_end = reader.record_bytes();
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    CAPTURE(cut);
    const bool between = cut == 0 || cut == next_end;
    if (cut == next_end) {
      ++whole_records;
      reader.next();
      next_end = reader.offset() + reader.record_bytes();
    }
    // A copy of its own size: the sanitizer sees a read behind its end.
    const std::string bytes = whole.substr(0, cut);
    const Decoded decoded = decode(bytes);
    REQUIRE((decoded.error == "") == between);
    REQUIRE(decoded.records.size() == whole_records);
  }
}

TEST_CASE("records: the fields of each type, one byte short, are refused") {
  const std::string whole = sample_bytes();
  RecordReader reader(as_bytes(whole));
  while (reader.next()) {
    std::string bytes = whole.substr(reader.offset(), reader.record_bytes() - 1);
    for (std::size_t fields = bytes.size() - 5; fields > 0; --fields) {
      bytes.resize(5 + fields);
      bytes = record(static_cast<Type>(bytes[0]), bytes.substr(5));
      CAPTURE(static_cast<int>(bytes[0]));
      CAPTURE(fields);
      REQUIRE(decode(bytes).error != "");
    }
  }
}

TEST_CASE("records: bytes that were flipped give an error or another meaning, which is written as those bytes") {
  const std::string whole = sample_bytes();
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::string bytes = whole;
    for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips)
      bytes[random.below(bytes.size())] ^= static_cast<char>(1U << random.below(8));
    const Decoded decoded = decode(bytes);
    if (decoded.error != "") {
      ++refused;
      REQUIRE(decoded.records.size() < kTypeCount);
    } else {
      REQUIRE(encode(decoded.records) == bytes);
    }
  }
  CHECK(refused > 1'000);
}
