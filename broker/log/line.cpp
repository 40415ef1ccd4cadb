#include "log/line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

namespace sluice::log {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kSecondNs = 1'000'000'000;

struct SplitTime {
  std::time_t seconds;
  long ns;  // 0 to 999,999,999, also before 1970
};

SplitTime split(std::int64_t wall_ns) {
  std::int64_t seconds = wall_ns / kSecondNs;
  std::int64_t ns = wall_ns % kSecondNs;
  if (ns < 0) {
    ns += kSecondNs;
    --seconds;
  }
  return {static_cast<std::time_t>(seconds), static_cast<long>(ns)};
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Cut between characters, so that the cut itself does not make a wrong one.
std::string shortened(std::string_view text) {
  if (text.size() <= kTextBytesMax) return std::string(text);
  std::size_t end = kTextBytesMax;
  while (end > kTextBytesMax - 3 && is_continuation(text[end])) --end;
  return std::string(text.substr(0, end)) + "...(" + std::to_string(text.size() - end) + " bytes more)";
}

Json to_json(const FieldValue& value) {
  struct Convert {
    Json operator()(std::string_view text) const { return shortened(text); }
    Json operator()(bool flag) const { return flag; }
    Json operator()(std::uint64_t number) const { return number; }
    Json operator()(std::int64_t number) const { return number; }
    Json operator()(double number) const { return number; }
  };
  return std::visit(Convert{}, value);
}

// ASCII only: besides the C0 controls, which JSON escapes anyway, some terminals obey U+009B and its like.
std::string dump(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

std::string valid(std::string_view text) {
  // A key goes through the same door as a value; Json does not check keys before dump().
  return Json::parse(dump(Json(shortened(text)))).get<std::string>();
}

bool is_plain(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@-+";
  return !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string bare_or_quoted(const Json& value) {
  if (value.is_string() && is_plain(value.get_ref<const std::string&>())) return value.get<std::string>();
  return dump(value);
}

std::string local_time_ms(std::int64_t wall_ns) {
  const SplitTime time = split(wall_ns);
  std::tm parts{};
  localtime_r(&time.seconds, &parts);
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%02d:%02d:%02d.%03ld", parts.tm_hour, parts.tm_min, parts.tm_sec,
                time.ns / 1'000'000);
  return out.data();
}

struct LevelStyle {
  std::string_view name;
  std::string_view padded;
  std::string_view colour;
};
constexpr std::array<LevelStyle, 4> kStyles = {{{"debug", "DEBUG", "\x1b[2m"},
                                                {"info", "INFO ", "\x1b[32m"},
                                                {"warn", "WARN ", "\x1b[33m"},
                                                {"error", "ERROR", "\x1b[31m"}}};
constexpr std::string_view kColourEnd = "\x1b[0m";

const LevelStyle& style(Level level) { return kStyles[static_cast<std::size_t>(level)]; }

}  // namespace

std::string_view level_name(Level level) { return style(level).name; }

std::string rfc3339_ns(std::int64_t wall_ns) {
  const SplitTime time = split(wall_ns);
  std::tm parts{};
  gmtime_r(&time.seconds, &parts);
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%09ldZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, time.ns);
  return out.data();
}

std::string json_line(const Event& event) {
  Json line = {{"time", rfc3339_ns(event.wall_ns)},
               {"level", level_name(event.level)},
               {"component", valid(event.component)},
               {"msg", valid(event.name)}};
  for (const Field& field : event.fields) {
    std::string key = valid(field.key);
    while (line.contains(key)) key += '_';
    line.emplace(std::move(key), to_json(field.value));
  }
  return dump(line);
}

std::string text_line(const Event& event, bool colour) {
  std::string line = local_time_ms(event.wall_ns) + " ";
  if (colour) line += style(event.level).colour;
  line += style(event.level).padded;
  if (colour) line += kColourEnd;
  line += " " + bare_or_quoted(valid(event.name)) + " component=" + bare_or_quoted(valid(event.component));
  for (const Field& field : event.fields) {
    line += " " + bare_or_quoted(valid(field.key)) + "=" + bare_or_quoted(to_json(field.value));
  }
  return line;
}

}  // namespace sluice::log
