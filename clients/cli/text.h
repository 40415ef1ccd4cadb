#pragma once
// cli/text.h: bytes of strangers as text for terminals, tables and JSON.
//
// Threads  pure functions.

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::cli {

bool is_utf8(std::string_view bytes);

// RFC 4648, with padding.
std::string base64(std::string_view bytes);

// Control characters, backslashes and what is not UTF-8 as \t, \n, \\ or \xNN: a payload can neither move the cursor nor break a
// table, and can be read back.
std::string escape(std::string_view bytes);

// escape(), cut to at most `columns_max` bytes without cutting a character; a cut is marked by "...".
std::string escape_cut(std::string_view bytes, std::size_t columns_max);

// One line of valid UTF-8 without control characters, at most `bytes_max`: for reasons of a nack.
std::string one_line(std::string_view bytes, std::size_t bytes_max);

// 1234567 is "1,234,567".
std::string group_digits(std::uint64_t number);

// "1 message", "2 messages".
std::string count_of(std::uint64_t number, std::string_view noun);

}  // namespace sluice::cli
