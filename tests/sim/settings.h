#pragma once
// sim/settings.h: what one seed is like: how many take part, how they behave, and which faults happen.
//
// Shapes   drawn from the seed alone, so that a seed stands for its run.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "journal/file_journal.h"
#include "network.h"
#include "reached.h"
#include "server/server.h"
#include "wire/value.h"

namespace sluice::sim {

struct QueueSettings {
  std::string name;
  wire::Map policy;
  std::vector<std::string> patterns;  // that it is bound to from the start
};

struct Settings {
  std::uint64_t seed = 0;
  std::array<bool, kFaults> faults{};
  std::uint64_t chaos_us = 0;  // how long there are faults
  std::vector<QueueSettings> queues;
  std::uint64_t producers = 0;
  std::uint64_t consumers = 0;
  std::uint64_t publish_every_us = 0;
  std::uint64_t messages_max = 0;  // of all producers
  std::uint64_t batch_max = 1;
  std::uint64_t payload_max = 0;
  std::uint64_t delay_percent = 0;
  std::uint64_t ttl_percent = 0;
  std::uint64_t key_percent = 0;
  std::uint64_t topic_percent = 0;
  std::uint64_t priority_percent = 0;
  std::uint64_t credit_max = 0;
  std::uint64_t heartbeat_ms = 0;
  bool settle_asks = true;  // for an answer, most of the time
  bool drains = false;      // the run ends with a drain while there is work
  bool journal = true;      // else: memory mode, and the broker never dies
  journal::FileJournalOptions disk;
  std::uint64_t write_us = 0;
  std::uint64_t sync_us = 0;
  NetworkOptions network;
  server::ServerOptions server;

  bool on(Mark fault) const { return faults[static_cast<std::size_t>(fault)]; }
};

Settings draw(std::uint64_t seed);
std::string describe(const Settings& settings);

}  // namespace sluice::sim
