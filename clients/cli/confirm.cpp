#include "cli/confirm.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "cli/failure.h"

namespace sluice::cli {

void require_confirmation(bool force, const std::string& what) {
  if (force) return;
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1)
    throw usage_failure("will not " + what + " unasked: there is no terminal to ask on", "--force says yes beforehand");
  std::fprintf(stderr, "%s? [y/N] ", what.c_str());
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return;
  throw Failure(Exit::failed, kErrorNotConfirmed, "not_confirmed", "nothing was done");
}

}  // namespace sluice::cli
