#pragma once
// base/units.h: durations and sizes as people write them.
//
// Shapes   a number, with a decimal point if need be, and its unit without a space: "250ms", "1.5h", "64KiB", "512".
// Units    durations become whole milliseconds, sizes whole bytes; what is finer is cut off, but never to zero.
// Errors   bad_field; the text holds the rule and the value.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sluice {

// ms, s, m, h, d. A unit is demanded, so that nobody has to guess whether 30 is half a minute or no time at all.
Result<std::uint64_t> parse_duration_ms(std::string_view text);

// No unit or B: bytes. KiB, MiB, GiB, TiB: powers of 1024. kB (or KB), MB, GB, TB: powers of 1000.
Result<std::uint64_t> parse_bytes(std::string_view text);

// Exact: parsing the text gives the same number again. The largest unit that needs no more than one decimal place
// (three for seconds): 30000 is "30s", 5400000 is "1.5h", 1001 is "1.001s".
std::string format_duration_ms(std::uint64_t duration_ms);

// Exact like the above, with a binary unit if one fits, else a decimal one, else bytes: 65536 is "64KiB", 1000 is "1kB".
std::string format_bytes(std::uint64_t bytes);

}  // namespace sluice
