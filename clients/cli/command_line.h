#pragma once
// cli/command_line.h: from argv to an exit code.
//
// Shapes   stdout gets data (or, with --json, the error object), stderr everything else; one line an error and one for its hint.

#include <string>
#include <vector>

namespace sluice::cli {

// Without the program's name.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace sluice::cli
