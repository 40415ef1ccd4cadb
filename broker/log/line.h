#pragma once
// log/line.h: one event as one line of text, without its newline. Pure.
//
// Shapes   whatever the bytes are, the line is ASCII, holds no control character but the colours asked for, and the JSON
//          parses. Bytes that are not UTF-8 become U+FFFD; a text longer than kTextBytesMax is cut and says by how much.
// Source   the fields every line has: CONTRIBUTING.md, "Logs".

#include <cstdint>
#include <string>
#include <string_view>

#include "log/field.h"

namespace sluice::log {

enum class Level : std::uint8_t { debug, info, warn, error };

std::string_view level_name(Level level);

// A peer chooses some of the texts, and must not choose the size of our log.
inline constexpr std::size_t kTextBytesMax = 4096;

struct Event {
  std::int64_t wall_ns = 0;  // since 1970, UTC
  Level level = Level::info;
  std::string_view component;
  std::string_view name;  // snake_case and stable: people search for it
  Fields fields;
};

// {"time":"2026-01-31T12:00:00.123456789Z","level":"info","component":"session","msg":"session_opened",...}. A field whose key
// is taken gets underscores behind it, so that nothing is lost.
std::string json_line(const Event& event);

// 12:00:00.123 INFO  session_opened component=session client="a b"; the time is the machine's local time.
std::string text_line(const Event& event, bool colour);

// Of a time in ns since 1970. Years 1677 to 2262.
std::string rfc3339_ns(std::int64_t wall_ns);

}  // namespace sluice::log
