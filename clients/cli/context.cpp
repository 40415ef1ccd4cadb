#include "cli/context.h"

#include <cstdio>

namespace sluice::cli {

ClientOptions Context::client_options(const std::string& command) const {
  ClientOptions options;
  options.name = "sluice " + command;
  options.connect_timeout = timeout();
  options.request_timeout = timeout();
  options.close_timeout = timeout();
  options.reconnect_give_up = timeout();
  return options;
}

void note(std::string_view text) {
  // One call, so that lines of several threads stay whole.
  std::fprintf(stderr, "sluice: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace sluice::cli
