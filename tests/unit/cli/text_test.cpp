#include "cli/text.h"

#include <doctest/doctest.h>

using namespace sluice::cli;
using std::string_view_literals::operator""sv;

TEST_CASE("text: UTF-8 is told from what only looks like it") {
  for (const std::string_view good : {""sv, "plain"sv, "\0"sv, "gr\xC3\xBC\xC3\x9F"sv, "\xE2\x82\xAC"sv,
                                      "\xF0\x9F\x98\x80"sv, "\xED\x9F\xBF"sv, "\xF4\x8F\xBF\xBF"sv})
    CHECK_MESSAGE(is_utf8(good), escape(good));
  for (const std::string_view bad : {"\xFF"sv, "\x80"sv, "\xC3"sv, "\xC0\xAF"sv, "\xE0\x80\xAF"sv, "\xED\xA0\x80"sv,
                                     "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xE2\x82"sv, "ok\xE2\x28\xA1"sv})
    CHECK_FALSE_MESSAGE(is_utf8(bad), escape(bad));
}

TEST_CASE("text: base64 is that of RFC 4648") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xFF\x00\xFE"sv) == "/wD+");
}

TEST_CASE("text: escaped, no payload can move the cursor or break a table") {
  CHECK(escape("a\tb\nc\\d\r") == "a\\tb\\nc\\\\d\\r");
  CHECK(escape("\033[2J") == "\\x1b[2J");
  CHECK(escape("\xC2\x9B"
               "2J") == "\\xc2\\x9b2J");
  CHECK(escape("\xFFz") == "\\xffz");
  CHECK(escape("\x7F"sv) == "\\x7f");
  CHECK(escape("gr\xC3\xBC\xC3\x9F") == "gr\xC3\xBC\xC3\x9F");
}

TEST_CASE("text: a cut leaves whole characters and says so") {
  CHECK(escape_cut("short", 10) == "short");
  CHECK(escape_cut("exactly10!", 10) == "exactly10!");
  CHECK(escape_cut("longer than ten", 10) == "longer ...");
  CHECK(escape_cut("abcd\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC", 10) == "abcd\xC3\xBC...");
  CHECK(escape_cut("abcdef\n\n\n", 10) == "abcdef...");
}

TEST_CASE("text: a reason is one line of valid text") {
  CHECK(one_line("plain", 100) == "plain");
  CHECK(one_line("a\nb\033c", 100) == "a b c");
  CHECK(one_line("\xFF\xFE", 100) == "??");
  CHECK(one_line("trailing \r\n", 100) == "trailing");
  CHECK(one_line("abc\xC3\xBC", 4) == "abc");
  CHECK(one_line("", 4) == "");
}

TEST_CASE("text: numbers are grouped for people") {
  CHECK(group_digits(0) == "0");
  CHECK(group_digits(999) == "999");
  CHECK(group_digits(1'000) == "1,000");
  CHECK(group_digits(1'234'567) == "1,234,567");
  CHECK(count_of(1, "message") == "1 message");
  CHECK(count_of(2'000, "message") == "2,000 messages");
}
