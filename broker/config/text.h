#pragma once
// config/text.h: what --help, --version and --check-config print.

#include <string>

#include "config/load.h"

namespace sluice::config {

std::string help_text();
std::string version_text();

// A line a setting; itself a file that --config can read, with the origins as comments.
std::string check_config_text(const Loaded& loaded);

}  // namespace sluice::config
