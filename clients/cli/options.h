#pragma once
// cli/options.h: flags with values as people write them, checked where they are read.
//
// Place    CLI11 splits the command line; this reads the values (CLI11's own numbers wrap, and take 010 for 8).
// Errors   CLI::ValidationError with one line: the flag, the rule and the value.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace sluice::cli {

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::int64_t>::max();
};

std::uint64_t parse_number(const std::string& flag, const std::string& text, Range range);
double parse_decimal(const std::string& flag, const std::string& text, double min, double max);
std::uint64_t parse_duration(const std::string& flag, const std::string& text);
std::uint64_t parse_size(const std::string& flag, const std::string& text);
// One of `words`, as it is.
std::string parse_choice(const std::string& flag, const std::string& text, const std::vector<std::string>& words);

// `flags` as CLI11 takes them ("-n,--count"); `read` throws CLI::ValidationError.
CLI::Option* add_value(CLI::App& command, const std::string& flags, const std::string& type, const std::string& help,
                       const std::function<void(const std::string& flag, const std::string& text)>& read);

namespace internal {
template <class T>
struct ValueOf {
  using Type = T;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using Type = T;
};
template <class T>
using Value = typename ValueOf<T>::Type;
}  // namespace internal

// Targets are integers, or optionals of them. The target must outlive the parse.
template <class Target>
CLI::Option* add_number(CLI::App& command, const std::string& flags, Target& target, Range range,
                        const std::string& help) {
  return add_value(command, flags, "N", help, [&target, range](const std::string& flag, const std::string& text) {
    target = static_cast<internal::Value<Target>>(parse_number(flag, text, range));
  });
}

template <class Target>
CLI::Option* add_decimal(CLI::App& command, const std::string& flags, Target& target, double min, double max,
                         const std::string& help) {
  return add_value(command, flags, "X", help, [&target, min, max](const std::string& flag, const std::string& text) {
    target = parse_decimal(flag, text, min, max);
  });
}

template <class Target>
CLI::Option* add_duration(CLI::App& command, const std::string& flags, Target& target_ms, const std::string& help) {
  return add_value(command, flags, "TIME", help, [&target_ms](const std::string& flag, const std::string& text) {
    target_ms = parse_duration(flag, text);
  });
}

template <class Target>
CLI::Option* add_size(CLI::App& command, const std::string& flags, Target& target_bytes, const std::string& help) {
  return add_value(command, flags, "SIZE", help, [&target_bytes](const std::string& flag, const std::string& text) {
    target_bytes = parse_size(flag, text);
  });
}

template <class Target>
CLI::Option* add_choice(CLI::App& command, const std::string& flags, Target& target, const std::string& type,
                        std::vector<std::string> words, const std::string& help) {
  return add_value(command, flags, type, help,
                   [&target, words = std::move(words)](const std::string& flag, const std::string& text) {
                     target = parse_choice(flag, text, words);
                   });
}

// Any text, also an empty one; the target is an optional, so that "not given" is something else.
CLI::Option* add_text(CLI::App& command, const std::string& flags, std::optional<std::string>& target,
                      const std::string& type, const std::string& help);

// --url, --timeout, --json, --color: at the root and at every command, so that they come before or after the verb.
void add_globals(CLI::App& command, Globals& globals);

}  // namespace sluice::cli
