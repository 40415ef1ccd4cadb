// sluiced: wires every part by hand and turns the loop until a signal stops it.

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "config/load.h"
#include "io/clock.h"
#include "io/signals.h"
#include "io/wake_set.h"
#include "io/zmq_router.h"
#include "journal/journal.h"
#include "log/logger.h"
#include "server/server.h"
#include "server/storage.h"

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

sluice::journal::SyncMode sync_of(sluice::config::SyncMode mode) {
  switch (mode) {
    case sluice::config::SyncMode::always:
      return sluice::journal::SyncMode::always;
    case sluice::config::SyncMode::interval:
      return sluice::journal::SyncMode::interval;
    case sluice::config::SyncMode::os:
      return sluice::journal::SyncMode::os;
  }
  return sluice::journal::SyncMode::always;
}

std::uint64_t memory_bytes(const Settings& settings) {
  if (settings.memory_bytes != 0) return settings.memory_bytes;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0)
    throw std::runtime_error("the size of the machine's memory is not known: set --memory");
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 2;
}

sluice::server::StorageOptions storage_options(const Settings& settings) {
  sluice::server::StorageOptions options;
  options.directory = settings.data_dir;
  options.journal.sync = sync_of(settings.sync);
  options.journal.interval_ms = settings.sync_interval_ms;
  options.journal.segment_bytes = settings.segment_bytes;
  options.memory_bytes = memory_bytes(settings);
  options.random = random_seed();
  return options;
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
  options.memory_bytes = memory_bytes(settings);
  options.version = SLUICE_VERSION;
  return options;
}

// Everything that one needs to know next, for people; others find the same in the log.
void print_start_block(const std::string& addresses, const std::string& data) {
  std::fprintf(stderr,
               "\n  sluiced %s\n\n"
               "  broker   %s\n"
               "  data     %s\n\n"
               "  try      sluice pub hello 'first message'\n"
               "           sluice sub hello -n 1\n\n",
               SLUICE_VERSION, addresses.c_str(), data.c_str());
}

void log_origins(sluice::log::Logger& logger, const std::vector<sluice::config::Origin>& origins) {
  for (const sluice::config::Origin& origin : origins) {
    if (origin.origin == "default") continue;
    for (const std::string& value : origin.values)
      logger.info("config", "setting", {{"name", origin.name}, {"value", value}, {"origin", origin.origin}});
  }
}

std::string data_text(const Settings& settings) {
  if (settings.data_dir.empty()) return "memory only: messages do not outlive this process";
  switch (settings.sync) {
    case sluice::config::SyncMode::always:
      return settings.data_dir + ", confirmed when the disk has it";
    case sluice::config::SyncMode::interval:
      return settings.data_dir + ", on the disk " + std::to_string(settings.sync_interval_ms) +
             " ms after it is confirmed";
    case sluice::config::SyncMode::os:
      return settings.data_dir + ", on the disk when the system likes";
  }
  return settings.data_dir;
}

void recover(sluice::server::Server& server, sluice::server::Storage& storage, sluice::log::Logger& logger) {
  const auto restored = server.recover(storage.restorer());
  if (!restored) throw std::runtime_error(restored.error());
  storage.forget_restorer();
  logger.info(
      "journal", "recovered",
      {{"queues", restored->queues}, {"messages", restored->messages}, {"leases_returned", restored->returned}});
}

// libzmq 4.3.4 aborts when a stranger's greeting is taken for one of ZMTP 1 while the socket closes (zmtp_engine.cpp: a push that fails is
// an assertion). By now everything is safe and told, so that end is as good as any other; an abort anywhere else is ours, and stays one.
void close_socket(std::unique_ptr<sluice::io::ZmqRouter> router) {
  std::signal(SIGABRT, [](int) { _exit(0); });
  router.reset();
  std::signal(SIGABRT, SIG_DFL);
}

int serve(const sluice::config::Loaded& loaded) {
  const Settings& settings = loaded.settings;
  sluice::log::Logger logger(level_of(settings.log_level), format_of(settings.log_format));
  log_origins(logger, loaded.origins);
  sluice::io::Signals signals;  // before any thread
  sluice::io::SystemClock clock;
  sluice::io::WakeSet wake;
  wake.add(signals.fd());
  sluice::journal::MemoryJournal memory;
  std::unique_ptr<sluice::server::Storage> storage;
  if (!settings.data_dir.empty()) {
    auto opened = sluice::server::Storage::open(storage_options(settings), logger);
    if (!opened) throw std::runtime_error(opened.error());
    storage = *std::move(opened);
    wake.add(storage->wake_fd());
  }
  sluice::journal::Journal& journal = storage ? storage->journal() : memory;
  auto router =
      std::make_unique<sluice::io::ZmqRouter>(sluice::io::ZmqRouterOptions{settings.frame_bytes_max, wake.fd()});
  auto server = std::make_unique<sluice::server::Server>(server_options(settings), clock, *router, journal, logger);
  if (storage) recover(*server, *storage, logger);
  std::string addresses;
  for (const std::string& address : settings.listen) {
    const std::string bound = router->bind(address);
    logger.info("server", "listening", {{"address", bound}, {"sync", journal.sync()}});
    addresses += (addresses.empty() ? "" : "  ") + bound;
  }
  if (isatty(STDERR_FILENO) != 0) print_start_block(addresses, data_text(settings));
  using Next = sluice::server::Server::Next;
  Next next = Next::look_for_signals;
  for (; next != Next::stop && next != Next::failed; next = server->turn()) {
    if (next != Next::look_for_signals) continue;
    if (storage) storage->drain_wake();
    for (std::uint32_t stops = signals.stops(); stops > 0; --stops) server->stop();
  }
  if (next == Next::failed) {
    // At once: what is kept can be trusted no more, or a thread hangs in the disk. Nothing that was confirmed depends on it.
    std::fprintf(stderr, "sluiced: %s\n", server->failure()->c_str());
    std::_Exit(kExitFailed);
  }
  if (storage) {
    if (const auto failure = storage->close()) throw std::runtime_error(*failure);
  }
  server.reset();
  logger.info("server", "stopped");
  close_socket(std::move(router));
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
