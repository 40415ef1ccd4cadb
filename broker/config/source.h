#pragma once
// config/source.h: the three places where settings are given, read into one shape. What a value means is judged later, by
// its row; here it is only found, with where it stands.
//
// Errors   one line each, ready to print; reading goes on behind each, so that all are told at once.

#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace sluice::config {

struct Given {
  const Option* option;
  std::vector<std::string> texts;
  std::string origin;  // "flag --lease", "environment SLUICE_LEASE", "/etc/sluice.toml:3"
  std::string where;   // how an error about it begins: "--lease", "SLUICE_LEASE", "/etc/sluice.toml:3: lease"
};

struct Source {
  std::vector<Given> given;
  std::vector<std::string> errors;
};

Source read_flags(int argc, const char* const* argv);

// Looks at SLUICE_* only. An empty variable is as if it were not set.
Source read_environment(const char* const* environment);

Source read_file(const std::string& path);

// The same for a text that is in memory already.
Source read_toml(std::string_view text, const std::string& path);

}  // namespace sluice::config
