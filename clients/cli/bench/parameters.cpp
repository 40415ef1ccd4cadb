#include "cli/bench/parameters.h"

#include <cstdio>

namespace sluice::cli {

std::vector<std::string> BenchParameters::queue_names() const {
  if (queues == 1) return {queue};
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < queues; ++i) names.push_back(queue + "-" + std::to_string(i));
  return names;
}

Json json_of(const BenchParameters& parameters) {
  return {{"queue", parameters.queue},
          {"producers", parameters.producers},
          {"consumers", parameters.consumers},
          {"connections", parameters.connections},
          {"queues", parameters.queues},
          {"messages", parameters.messages},
          {"duration_ms", parameters.duration_ms},
          {"size_bytes", parameters.size_bytes},
          {"prefetch", parameters.prefetch},
          {"batch", parameters.batch},
          {"rate", parameters.rate},
          {"work_ms", parameters.work_ms},
          {"warmup", parameters.warmup},
          {"topic", parameters.topic},
          {"verify", parameters.verify},
          {"separate", parameters.separate}};
}

std::vector<std::string> flags_of(const BenchParameters& parameters) {
  std::vector<std::string> flags{parameters.queue};
  const auto add = [&](const char* flag, const std::string& value) {
    flags.emplace_back(flag);
    flags.push_back(value);
  };
  add("--producers", std::to_string(parameters.producers));
  add("--consumers", std::to_string(parameters.consumers));
  add("--connections", std::to_string(parameters.connections));
  add("--queues", std::to_string(parameters.queues));
  if (parameters.duration_ms > 0) {
    add("--duration", std::to_string(parameters.duration_ms) + "ms");
  } else {
    add("--msgs", std::to_string(parameters.messages));
  }
  add("--size", std::to_string(parameters.size_bytes));
  add("--prefetch", std::to_string(parameters.prefetch));
  add("--batch", std::to_string(parameters.batch));
  if (parameters.rate > 0) {
    char exact[32];
    std::snprintf(exact, sizeof exact, "%.17g", parameters.rate);
    add("--rate", exact);
  }
  if (parameters.work_ms > 0) add("--work", std::to_string(parameters.work_ms) + "ms");
  add("--warmup", std::to_string(parameters.warmup));
  if (parameters.topic) flags.emplace_back("--topic");
  if (parameters.verify) flags.emplace_back("--verify");
  add("--run-tag", std::to_string(parameters.run_tag));
  return flags;
}

}  // namespace sluice::cli
