#include "wire/utf8.h"

#include <doctest/doctest.h>

#include <string>

using sluice::wire::valid_utf8;
using namespace std::string_view_literals;

TEST_CASE("utf8: text of every length of sequence is valid") {
  CHECK(valid_utf8(""));
  CHECK(valid_utf8("plain"));
  CHECK(valid_utf8("\0in the middle\0"sv));
  CHECK(valid_utf8("größe"));
  CHECK(valid_utf8("工人"));
  CHECK(valid_utf8("🚦"));
  CHECK(valid_utf8(
      "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));
}

TEST_CASE("utf8: what is not text is invalid") {
  for (const std::string_view bad : {"\x80"sv,
                                     "\xbf"sv,
                                     "\xff"sv,
                                     "\xfe"sv,
                                     "\xc0\x80"sv,
                                     "\xc1\xbf"sv,
                                     "\xe0\x80\x80"sv,
                                     "\xe0\x9f\xbf"sv,
                                     "\xed\xa0\x80"sv,
                                     "\xed\xbf\xbf"sv,
                                     "\xf0\x80\x80\x80"sv,
                                     "\xf0\x8f\xbf\xbf"sv,
                                     "\xf4\x90\x80\x80"sv,
                                     "\xf5\x80\x80\x80"sv,
                                     "\xf8\x88\x80\x80\x80"sv,
                                     "\xc3"sv,
                                     "\xe4\xb8"sv,
                                     "\xf0\x9f\x9a"sv,
                                     "\xc3("sv,
                                     "\xe4(\xb8"sv,
                                     "\xe4\xb8("sv,
                                     "\xf0\x9f\x9a("sv}) {
    CAPTURE(bad.size());
    CHECK_FALSE(valid_utf8(bad));
    // Not hidden by what is around it, at any offset of the eight-byte steps.
    for (std::size_t before = 0; before < 17; ++before) {
      CHECK_FALSE(valid_utf8(std::string(before, 'a') + std::string(bad) + "a"));
      CHECK_FALSE(valid_utf8(std::string(before, 'a') + std::string(bad)));
    }
  }
}

TEST_CASE("utf8: of all code points exactly the surrogates are no text") {
  for (std::uint32_t point = 0x800; point < 0x10000; ++point) {
    const std::string text = {static_cast<char>(0xe0 | point >> 12), static_cast<char>(0x80 | (point >> 6 & 0x3f)),
                              static_cast<char>(0x80 | (point & 0x3f))};
    const bool surrogate = point >= 0xd800 && point < 0xe000;
    if (valid_utf8(text) == surrogate) FAIL_CHECK("code point " << point);
  }
}
