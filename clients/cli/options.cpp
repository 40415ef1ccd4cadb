#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/units.h"

namespace sluice::cli {
namespace {

constexpr const char* kGlobalGroup = "Global flags (before or after the verb)";

[[noreturn]] void refuse(const std::string& flag, const std::string& rule, const std::string& text) {
  throw CLI::ValidationError(flag, rule + ", not '" + text + "'");
}

std::string plain(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

template <class Number>
bool read_whole(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stopped == end;
}

// What follows computes with signed numbers.
std::uint64_t checked(const std::string& flag, const std::string& text, const Result<std::uint64_t>& parsed) {
  if (!parsed) throw CLI::ValidationError(flag, parsed.error().text);
  if (*parsed > Range{}.max) throw CLI::ValidationError(flag, "'" + text + "' is too large");
  return *parsed;
}

void read_color(Globals& globals, const std::string& flag, const std::string& text) {
  if (text == "auto") {
    globals.color = ColorMode::automatic;
  } else if (text == "always") {
    globals.color = ColorMode::always;
  } else if (text == "never") {
    globals.color = ColorMode::never;
  } else {
    refuse(flag, "must be auto, always or never", text);
  }
}

}  // namespace

std::uint64_t parse_number(const std::string& flag, const std::string& text, Range range) {
  std::uint64_t number = 0;
  if (!read_whole(text, number) || number < range.min || number > range.max) {
    const bool open = range.max == Range{}.max;
    refuse(
        flag,
        "must be a whole number " + (open ? "of at least " + std::to_string(range.min)
                                          : "from " + std::to_string(range.min) + " to " + std::to_string(range.max)),
        text);
  }
  return number;
}

double parse_decimal(const std::string& flag, const std::string& text, double min, double max) {
  double number = 0;
  if (!read_whole(text, number) || !std::isfinite(number) || number < min || number > max)
    refuse(flag, "must be a number from " + plain(min) + " to " + plain(max), text);
  return number;
}

std::uint64_t parse_duration(const std::string& flag, const std::string& text) {
  return checked(flag, text, parse_duration_ms(text));
}

std::uint64_t parse_size(const std::string& flag, const std::string& text) {
  return checked(flag, text, parse_bytes(text));
}

std::string parse_choice(const std::string& flag, const std::string& text, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  std::string known;
  for (std::size_t i = 0; i < words.size(); ++i)
    known += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  refuse(flag, "must be " + known, text);
}

CLI::Option* add_value(CLI::App& command, const std::string& flags, const std::string& type, const std::string& help,
                       const std::function<void(const std::string& flag, const std::string& text)>& read) {
  const std::string flag = flags.substr(flags.rfind(',') + 1);
  return command
      .add_option_function<std::string>(
          flags, [read, flag](const std::string& text) { read(flag, text); }, help)
      ->type_name(type)
      ->take_last();
}

CLI::Option* add_text(CLI::App& command, const std::string& flags, std::optional<std::string>& target,
                      const std::string& type, const std::string& help) {
  return add_value(command, flags, type, help,
                   [&target](const std::string&, const std::string& text) { target = text; });
}

void add_globals(CLI::App& command, Globals& globals) {
  add_value(command, "--url", "URL", "the broker's address (SLUICE_URL; default " + std::string(kDefaultUrl) + ")",
            [&globals](const std::string& flag, const std::string& text) {
              if (text.empty()) refuse(flag, "must be an address such as " + std::string(kDefaultUrl), text);
              globals.url = text;
            })
      ->group(kGlobalGroup);
  add_duration(command, "--timeout", globals.timeout_ms, "the longest wait for the broker (5s)")->group(kGlobalGroup);
  command
      .add_flag_callback(
          "--json", [&globals] { globals.json = true; }, "JSON on stdout, one object a line; errors too")
      ->group(kGlobalGroup);
  add_value(command, "--color", "WHEN", "auto, always or never",
            [&globals](const std::string& flag, const std::string& text) { read_color(globals, flag, text); })
      ->group(kGlobalGroup);
}

}  // namespace sluice::cli
