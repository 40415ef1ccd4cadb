#include "base/units.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace sluice {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
  int decimals;  // most decimal places that format() writes with this unit
};

constexpr std::uint64_t kMinuteMs = 60'000;
constexpr std::uint64_t kKiB = 1024;

// Largest first: format() takes the first that fits. Aliases that are only read have decimals -1.
constexpr std::array<Unit, 5> kDurationUnits = {
    {{"d", 24ULL * 60 * kMinuteMs, 1}, {"h", 60 * kMinuteMs, 1}, {"m", kMinuteMs, 1}, {"s", 1'000, 3}, {"ms", 1, 0}}};
constexpr std::array<Unit, 10> kByteUnits = {{{"TiB", kKiB* kKiB* kKiB* kKiB, 1},
                                              {"GiB", kKiB* kKiB* kKiB, 1},
                                              {"MiB", kKiB* kKiB, 1},
                                              {"KiB", kKiB, 1},
                                              {"TB", 1'000'000'000'000, 1},
                                              {"GB", 1'000'000'000, 1},
                                              {"MB", 1'000'000, 1},
                                              {"kB", 1'000, 1},
                                              {"KB", 1'000, -1},
                                              {"B", 1, 0}}};

// More decimals than this cannot matter, and unit * 10^this still fits in 64 bits for every unit above.
constexpr std::size_t kDecimalsMax = 6;
constexpr std::size_t kQuotedBytesMax = 64;

constexpr std::string_view kDurationRule =
    "a duration is a number with its unit (ms, s, m, h or d), such as 250ms or 1.5h";
constexpr std::string_view kByteRule =
    "a size is a number with its unit (B, KiB, MiB, GiB, TiB, kB, MB, GB or TB), such as 64KiB";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The value may be a whole file by mistake; and it goes to a terminal.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, kQuotedBytesMax)) out += (c >= ' ' && c != '\x7f') ? c : '?';
  if (text.size() > kQuotedBytesMax) out += "...";
  return out + "'";
}

tl::unexpected<Error> refuse(std::string_view rule, std::string_view text, std::string_view detail = {}) {
  std::string message(rule);
  message += ", not " + quoted(text);
  if (!detail.empty()) message.append(" (").append(detail).append(")");
  return fail(ErrorCode::bad_field, std::move(message));
}

std::string_view take_digits(std::string_view& rest) {
  const auto end = std::ranges::find_if_not(rest, is_digit);
  const auto count = static_cast<std::size_t>(end - rest.begin());
  const std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

std::optional<std::uint64_t> to_number(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<std::uint64_t>(c - '0'), &value)) return std::nullopt;
  }
  return value;
}

// 0.decimals * factor, cut to a whole number. REQUIRES: digits only.
std::uint64_t part_of(std::string_view decimals, std::uint64_t factor) {
  std::uint64_t value = 0;
  std::uint64_t scale = 1;
  for (const char c : decimals.substr(0, kDecimalsMax)) {
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    scale *= 10;
  }
  return value * factor / scale;
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  const auto found = std::ranges::find(units, name, &Unit::name);
  return found == units.end() ? nullptr : &*found;
}

Result<std::uint64_t> parse(std::string_view text, std::span<const Unit> units, std::string_view rule,
                            std::string_view default_unit) {
  std::string_view rest = text;
  const std::string_view whole = take_digits(rest);
  if (whole.empty()) return refuse(rule, text, text.starts_with('-') ? "it cannot be negative" : "");
  std::string_view decimals;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    decimals = take_digits(rest);
    if (decimals.empty()) return refuse(rule, text);
  }
  if (rest.empty() && default_unit.empty()) return refuse(rule, text, "the unit is missing");
  const Unit* const unit = find_unit(units, rest.empty() ? default_unit : rest);
  if (unit == nullptr) return refuse(rule, text, "unknown unit");

  const std::optional<std::uint64_t> number = to_number(whole);
  std::uint64_t value = 0;
  if (!number || __builtin_mul_overflow(*number, unit->factor, &value) ||
      __builtin_add_overflow(value, part_of(decimals, unit->factor), &value)) {
    return refuse(rule, text, "too large");
  }
  const bool written_as_zero = *number == 0 && decimals.find_first_not_of('0') == std::string_view::npos;
  if (value == 0 && !written_as_zero) return refuse(rule, text, "too small");
  return value;
}

// value in this unit, if that is exact with the decimals it allows.
std::optional<std::string> format_in(const Unit& unit, std::uint64_t value) {
  if (unit.decimals < 0 || value < unit.factor) return std::nullopt;
  std::string text = std::to_string(value / unit.factor);
  std::uint64_t rest = value % unit.factor;
  if (rest > 0) text += '.';
  for (int place = 0; rest > 0; ++place) {
    if (place == unit.decimals) return std::nullopt;
    rest *= 10;
    text += std::to_string(rest / unit.factor);
    rest %= unit.factor;
  }
  return text.append(unit.name);
}

std::string format(std::span<const Unit> units, std::uint64_t value) {
  for (const Unit& unit : units) {
    if (auto text = format_in(unit, value)) return *std::move(text);
  }
  return "0" + std::string(units.back().name);
}

}  // namespace

Result<std::uint64_t> parse_duration_ms(std::string_view text) {
  return parse(text, kDurationUnits, kDurationRule, "");
}

Result<std::uint64_t> parse_bytes(std::string_view text) { return parse(text, kByteUnits, kByteRule, "B"); }

std::string format_duration_ms(std::uint64_t duration_ms) {
  // "0s" reads better than "0ms" and means the same.
  return duration_ms == 0 ? "0s" : format(kDurationUnits, duration_ms);
}

std::string format_bytes(std::uint64_t bytes) { return format(kByteUnits, bytes); }

}  // namespace sluice
