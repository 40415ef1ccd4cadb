#pragma once
// config/settings.h: what `sluiced` can be told, as values. The initial values are the defaults; nothing repeats them.
//
// Place    main hands parts of it to the engine, the sessions and the loop; these know no file and no flag.
// Units    *_ms milliseconds, *_bytes bytes.
// Source   names, rules and help: option.cpp, one row a setting.

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::config {

// When a record is safe enough for what it caused to be told.
enum class SyncMode : std::uint8_t { always, interval, os };
enum class LogLevel : std::uint8_t { debug, info, warn, error };
// automatic: text on a terminal, JSON elsewhere.
enum class LogFormat : std::uint8_t { automatic, json, text };

struct Settings {
  std::vector<std::string> listen = {"tcp://127.0.0.1:5570"};  // ZeroMQ endpoints
  bool insecure = false;

  std::string data_dir;  // empty: messages are kept in memory only
  SyncMode sync = SyncMode::always;
  std::uint64_t sync_interval_ms = 50;  // with SyncMode::interval
  std::uint64_t segment_bytes = 64ULL * 1024 * 1024;
  std::uint64_t memory_bytes = 0;  // of messages; 0: half of the machine's

  // For queues without a policy of their own.
  std::uint64_t lease_ms = 30'000;
  std::uint64_t max_attempts = 5;
  std::uint64_t dlq_max = 10'000;  // messages
  bool auto_create = true;

  // 0: do not wait for leases.
  std::uint64_t drain_timeout_ms = 10'000;

  std::uint64_t max_sessions = 10'000;
  std::uint64_t max_queues = 1'000'000;
  std::uint64_t frame_bytes_max = 8ULL * 1024 * 1024;

  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::automatic;

  std::string config_file;  // empty: none
};

}  // namespace sluice::config
