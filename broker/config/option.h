#pragma once
// config/option.h: the table of options. Flag, environment variable, file key, rule, default and help of a setting come from
// its one row.
//
// Shapes   row "max-attempts": flag --max-attempts, variable SLUICE_MAX_ATTEMPTS, file key max-attempts.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace sluice::config {

enum class Scope : std::uint8_t {
  everywhere,   // flag, environment and file
  not_in_file,  // flag and environment
  flag_only,    // it says what to do, not how
};

enum class Kind : std::uint8_t {
  text,    // a string in the file
  number,  // a bare number in the file
  list,    // several strings; the flag may be repeated, the variable is split at commas
  on_off,  // on or off, or a boolean in the file
  toggle,  // the same, and the flag stands alone
};

struct Option {
  std::string_view name;
  std::string_view value;  // placeholder in the help
  std::string_view help;
  Kind kind = Kind::text;
  Scope scope = Scope::everywhere;
  // Not empty: a name that is taken already, refused with this text.
  std::string_view later;
  // Sets it, or returns the rule that was broken. One text, or any number of them for a list. Null: nothing to keep.
  using Set = std::optional<std::string> (*)(Settings& settings, std::span<const std::string> texts);
  // The value as set() would read it again.
  using Get = std::vector<std::string> (*)(const Settings& settings);
  Set set = nullptr;
  Get get = nullptr;

  std::string flag() const;         // --max-attempts
  std::string environment() const;  // SLUICE_MAX_ATTEMPTS
};

inline constexpr std::string_view kEnvironmentPrefix = "SLUICE_";

// In the order of the help.
std::span<const Option> options();
const Option* find_option(std::string_view name);

// "; did you mean X?" if a name of the table is near, else nothing. `decorate` turns a row into the spelling of the source.
std::string suggestion(std::string_view wrong, std::string (*decorate)(const Option&));

}  // namespace sluice::config
