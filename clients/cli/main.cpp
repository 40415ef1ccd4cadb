// The sluice command: everything but the broker.

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/command_line.h"

int main(int argc, char** argv) {
  // A reader that went away is an error of write(), told in a line, and takes no message with it.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return sluice::cli::run_command_line({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice: a defect of this command: %s\n", error.what());
    return 1;
  }
}
