#pragma once
// cli/context.h: what every command is given: the flags that all of them take, stdout, and a way to the broker.

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "sluice/client.h"

namespace sluice::cli {

inline constexpr std::string_view kDefaultUrl = "tcp://127.0.0.1:5570";

enum class ColorMode { automatic, always, never };

struct Globals {
  std::string url{kDefaultUrl};
  std::uint64_t timeout_ms = 5'000;
  bool json = false;
  ColorMode color = ColorMode::automatic;
};

struct Context {
  const Globals& globals;
  Output& out;

  Milliseconds timeout() const { return Milliseconds(globals.timeout_ms); }
  // Every wait for the broker bounded by --timeout, also reconnecting: a single question must not hang.
  ClientOptions client_options(const std::string& command) const;
  Client connect(const std::string& command) const { return Client(globals.url, client_options(command)); }
};

// One line on stderr: progress, and what became of it. Locks like stdio does.
void note(std::string_view text);

}  // namespace sluice::cli
