#include "log/line.h"

#include <limits>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <nlohmann/json.hpp>

using namespace sluice::log;
using nlohmann::json;

namespace {

Event event_of(Fields fields) { return {1'767'225'600'123'456'789, Level::warn, "session", "frame_refused", fields}; }

bool is_printable_ascii(const std::string& line) {
  for (const char c : line) {
    if (c < ' ' || c > '~') return false;
  }
  return true;
}

// All of Unicode but the surrogates, which UTF-8 does not have.
std::string to_utf8(char32_t c) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | (c >> 6)), byte(0x80 | (c & 0x3F))};
  if (c < 0x10000) return {byte(0xE0 | (c >> 12)), byte(0x80 | ((c >> 6) & 0x3F)), byte(0x80 | (c & 0x3F))};
  return {byte(0xF0 | (c >> 18)), byte(0x80 | ((c >> 12) & 0x3F)), byte(0x80 | ((c >> 6) & 0x3F)),
          byte(0x80 | (c & 0x3F))};
}

rc::Gen<std::string> utf8_text() {
  const auto character = rc::gen::map(rc::gen::oneOf(rc::gen::inRange(0U, 0x100U), rc::gen::inRange(0x100U, 0xD800U),
                                                     rc::gen::inRange(0xE000U, 0x110000U)),
                                      [](unsigned c) { return to_utf8(static_cast<char32_t>(c)); });
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(character), [](const std::vector<std::string>& all) {
    std::string out;
    for (const std::string& one : all) out += one;
    return out;
  });
}

}  // namespace

TEST_CASE("line: JSON has time, level, component and msg first, then the fields") {
  const Field fields[] = {{"session", 12}, {"client", "a \"b\"\n"}, {"retry", true}, {"load", 0.5}, {"delta", -3}};
  CHECK(json_line(event_of(fields)) ==
        R"({"time":"2026-01-01T00:00:00.123456789Z","level":"warn","component":"session","msg":"frame_refused",)"
        R"("session":12,"client":"a \"b\"\n","retry":true,"load":0.5,"delta":-3})");
}

TEST_CASE("line: numbers keep their whole range") {
  const Field fields[] = {{"most", std::numeric_limits<std::uint64_t>::max()},
                          {"least", std::numeric_limits<std::int64_t>::min()}};
  const json parsed = json::parse(json_line(event_of(fields)));
  CHECK(parsed["most"].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CHECK(parsed["least"].get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("line: what is no number in JSON is null") {
  const Field fields[] = {{"ratio", std::numeric_limits<double>::quiet_NaN()},
                          {"rate", std::numeric_limits<double>::infinity()}};
  const json parsed = json::parse(json_line(event_of(fields)));
  CHECK(parsed["ratio"].is_null());
  CHECK(parsed["rate"].is_null());
}

TEST_CASE("line: a field cannot pose as another one") {
  const Field fields[] = {{"msg", "forged"}, {"time", "forged"}, {"x", 1}, {"x", 2}};
  const json parsed = json::parse(json_line(event_of(fields)));
  CHECK(parsed["msg"] == "frame_refused");
  CHECK(parsed["msg_"] == "forged");
  CHECK(parsed["time_"] == "forged");
  CHECK(parsed["x"] == 1);
  CHECK(parsed["x_"] == 2);
}

TEST_CASE("line: times before 1970 and at the ends are right") {
  CHECK(rfc3339_ns(0) == "1970-01-01T00:00:00.000000000Z");
  CHECK(rfc3339_ns(-1) == "1969-12-31T23:59:59.999999999Z");
  CHECK(rfc3339_ns(951'782'400'000'000'001) == "2000-02-29T00:00:00.000000001Z");
  CHECK(rfc3339_ns(std::numeric_limits<std::int64_t>::max()) == "2262-04-11T23:47:16.854775807Z");
}

TEST_CASE("line: valid UTF-8 comes back as it was, whatever it is") {
  CHECK(rc::check([] {
    const std::string text = *utf8_text();
    RC_PRE(text.size() <= kTextBytesMax);
    const std::string key = "key_" + *utf8_text();
    const Field fields[] = {{key, text}};
    const std::string line = json_line(event_of(fields));
    RC_ASSERT(is_printable_ascii(line));
    RC_ASSERT(json::parse(line).at(key) == text);
  }));
}

TEST_CASE("line: any bytes, in every place, give JSON that parses") {
  CHECK(rc::check(
      [](const std::string& component, const std::string& name, const std::string& key, const std::string& text) {
        const Field fields[] = {{key, text}, {text, key}};
        const Event event{0, Level::info, component, name, fields};
        const std::string line = json_line(event);
        RC_ASSERT(is_printable_ascii(line));
        const json parsed = json::parse(line);
        RC_ASSERT(parsed.is_object());
        RC_ASSERT(parsed.size() == 6U);
        RC_ASSERT(parsed.at("level") == "info");
        RC_ASSERT(is_printable_ascii(text_line(event, false)));
      }));
}

TEST_CASE("line: bytes that are not UTF-8 become replacement characters") {
  const std::string wrong = "a\xff\xc0\xaf\xed\xa0\x80z";
  const Field fields[] = {{"client", wrong}};
  const std::string text = json::parse(json_line(event_of(fields)))["client"].get<std::string>();
  CHECK(text.starts_with("a\xEF\xBF\xBD"));
  CHECK(text.ends_with("z"));
}

TEST_CASE("line: a long text is cut between characters and says by how much") {
  // Three bytes a character: 4096 is not divisible by three.
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\xE2\x82\xAC";
  const Field fields[] = {{"error", text}};
  const std::string cut = json::parse(json_line(event_of(fields)))["error"].get<std::string>();
  CHECK(cut.find("\xEF\xBF\xBD") == std::string::npos);
  CHECK(cut.ends_with("\xE2\x82\xAC...(295905 bytes more)"));
  const std::string exact(kTextBytesMax, 'x');
  const Field whole[] = {{"error", exact}};
  CHECK(json::parse(json_line(event_of(whole)))["error"] == exact);
}

TEST_CASE("line: text is readable, and quotes what could be mistaken") {
  const Field fields[] = {{"session", 12}, {"client", "billing-1"},      {"error", "a b"},
                          {"empty", ""},   {"url", "tcp://127.0.0.1:1"}, {"escape", "\x1b[31m"}};
  const std::string line = text_line(event_of(fields), false);
  CHECK(line.size() > 13);
  CHECK(line.substr(12) ==
        " WARN  frame_refused component=session session=12 client=billing-1 error=\"a b\" empty=\"\" "
        "url=tcp://127.0.0.1:1 "
        "escape=\"\\u001b[31m\"");
  CHECK(line.substr(2, 1) == ":");
  CHECK(line.substr(8, 1) == ".");
}

TEST_CASE("line: colour is around the level only") {
  const std::string line = text_line(event_of({}), true);
  CHECK(line.find("\x1b[33mWARN \x1b[0m frame_refused") != std::string::npos);
}
