#pragma once
// cli/bench/result.h: what a run came to, and its three forms.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/bench/histogram.h"
#include "cli/bench/parameters.h"
#include "cli/output.h"

namespace sluice::cli {

struct Latency {
  double p50_us = 0, p90_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
};
Latency latency_of(const Histogram& histogram);

struct ProducersResult {
  std::uint64_t published = 0;
  std::uint64_t confirmed = 0;
  std::uint64_t started_ns = 0;
  std::uint64_t ended_ns = 0;  // the last one confirmed
  std::string failure;         // empty if all went well
};

struct ConsumersResult {
  std::uint64_t acked = 0;        // messages of this run, each counted once
  std::uint64_t measured = 0;     // of these, after the warm-up
  std::uint64_t redelivered = 0;  // deliveries that said so themselves
  std::uint64_t doubled = 0;      // seen twice, and the delivery did not say so (--verify)
  std::uint64_t altered = 0;      // --verify
  std::uint64_t foreign = 0;      // not of this run; acked as well
  std::uint64_t started_ns = 0;   // the first measured message's intended time
  std::uint64_t ended_ns = 0;     // the broker holds none of them any more
  std::uint64_t left = 0;         // still in the queues
  Latency latency;
  std::string failure;
};

struct BenchResult {
  BenchParameters parameters;
  std::optional<ProducersResult> produced;
  std::optional<ConsumersResult> consumed;

  double seconds() const;
  double rate() const;
  std::uint64_t messages() const;
  // With a topic several a message.
  std::uint64_t deliveries() const { return messages() * parameters.copies(); }
  double deliveries_rate() const { return rate() * static_cast<double>(parameters.copies()); }
  std::uint64_t lost() const;
  // Empty if the run came out exact.
  std::string failure() const;
};

Json json_of(const Latency& latency);
Json json_of(const ProducersResult& result);
Json json_of(const ConsumersResult& result);
ProducersResult producers_result_of(const Json& object);
ConsumersResult consumers_result_of(const Json& object);

Json json_of(const BenchResult& result);
std::string csv_heading();
std::string csv_of(const BenchResult& result);
std::string text_of(const BenchResult& result);
// "850 us", "3.2 ms", "1.25 s".
std::string format_us(double microseconds);

}  // namespace sluice::cli
