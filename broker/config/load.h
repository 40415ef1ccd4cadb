#pragma once
// config/load.h: from flags, environment and file to settings; the flag beats the variable, the variable the file.
//
// Place    main → [config]; once, before anything else is made.
// Errors   one line each, all of them at once; main prints them and exits with 2.

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "config/settings.h"

namespace sluice::config {

// Where an effective value comes from.
struct Origin {
  std::string name;                 // "lease"
  std::vector<std::string> values;  // one, but for lists
  std::string origin;               // "default", "flag --lease", "environment SLUICE_LEASE", "/etc/sluice.toml:3"
};

struct Loaded {
  Settings settings;
  std::vector<Origin> origins;  // every setting, in the order of the help
  // Set: print it on stdout and exit with 0 (--help, --version, --check-config).
  std::optional<std::string> print;
};

tl::expected<Loaded, std::vector<std::string>> load(int argc, const char* const* argv, const char* const* environment);

}  // namespace sluice::config
