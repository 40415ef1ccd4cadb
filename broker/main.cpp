// sluiced: wires every part by hand and turns the loop until a signal stops it.

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "config/load.h"
#include "io/clock.h"
#include "io/signals.h"
#include "io/zmq_router.h"
#include "journal/journal.h"
#include "log/logger.h"
#include "server/server.h"

extern char** environ;

namespace {

using sluice::config::LogFormat;
using sluice::config::LogLevel;
using sluice::config::Settings;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

sluice::log::Format format_of(LogFormat format) {
  switch (format) {
    case LogFormat::automatic:
      return sluice::log::automatic_format();
    case LogFormat::json:
      return sluice::log::Format::json;
    case LogFormat::text:
      return sluice::log::text_format();
  }
  return sluice::log::Format::json;
}

sluice::log::Level level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return sluice::log::Level::debug;
    case LogLevel::info:
      return sluice::log::Level::info;
    case LogLevel::warn:
      return sluice::log::Level::warn;
    case LogLevel::error:
      return sluice::log::Level::error;
  }
  return sluice::log::Level::info;
}

// Without descriptors the transport's thread spins; so take as many as we may.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    throw std::runtime_error("getrandom failed");
  return seed;
}

sluice::server::ServerOptions server_options(const Settings& settings) {
  sluice::server::ServerOptions options;
  options.engine.policy.lease_ms = settings.lease_ms;
  options.engine.policy.max_attempts = settings.max_attempts;
  options.engine.policy.dead_letter_max = settings.dlq_max;
  options.engine.auto_create = settings.auto_create;
  options.engine.queues_max = settings.max_queues;
  options.engine.message_bytes_max = settings.frame_bytes_max - sluice::engine::kDeliveryOverheadBytes;
  options.engine.seed = random_seed();
  options.outbox.frame_bytes_max = settings.frame_bytes_max;
  options.sessions_max = settings.max_sessions;
  options.drain_timeout_ms = settings.drain_timeout_ms;
  options.version = SLUICE_VERSION;
  return options;
}

// Everything that one needs to know next, for people; others find the same in the log.
void print_start_block(const std::string& addresses) {
  std::fprintf(stderr,
               "\n  sluiced %s\n\n"
               "  broker   %s\n"
               "  data     memory only: messages do not outlive this process\n\n"
               "  try      sluice pub hello 'first message'\n"
               "           sluice sub hello -n 1\n\n",
               SLUICE_VERSION, addresses.c_str());
}

void log_origins(sluice::log::Logger& logger, const std::vector<sluice::config::Origin>& origins) {
  for (const sluice::config::Origin& origin : origins) {
    if (origin.origin == "default") continue;
    for (const std::string& value : origin.values)
      logger.info("config", "setting", {{"name", origin.name}, {"value", value}, {"origin", origin.origin}});
  }
}

int serve(const sluice::config::Loaded& loaded) {
  const Settings& settings = loaded.settings;
  sluice::log::Logger logger(level_of(settings.log_level), format_of(settings.log_format));
  log_origins(logger, loaded.origins);
  sluice::io::Signals signals;  // before any thread
  sluice::io::SystemClock clock;
  sluice::journal::MemoryJournal journal;
  sluice::io::ZmqRouter router({settings.frame_bytes_max, signals.fd()});
  std::string addresses;
  for (const std::string& address : settings.listen) {
    const std::string bound = router.bind(address);
    logger.info("server", "listening", {{"address", bound}, {"sync", journal.sync()}});
    addresses += (addresses.empty() ? "" : "  ") + bound;
  }
  if (isatty(STDERR_FILENO) != 0) print_start_block(addresses);
  sluice::server::Server server(server_options(settings), clock, router, journal, logger);
  using Next = sluice::server::Server::Next;
  for (Next next = Next::look_for_signals; next != Next::stop; next = server.turn()) {
    if (next != Next::look_for_signals) continue;
    for (std::uint32_t stops = signals.stops(); stops > 0; --stops) server.stop();
  }
  logger.info("server", "stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto loaded = sluice::config::load(argc, argv, environ);
  if (!loaded) {
    for (const std::string& error : loaded.error()) std::fprintf(stderr, "sluiced: %s\n", error.c_str());
    return kExitUsage;
  }
  if (loaded->print) {
    std::fputs(loaded->print->c_str(), stdout);
    return 0;
  }
  raise_descriptor_limit();
  try {
    return serve(*loaded);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "sluiced: %s\n", failure.what());
    return kExitFailed;
  }
}
