#pragma once
// cli/bench/parameters.h: everything that a benchmark run depends on.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.h"

namespace sluice::cli {

enum class BenchRole { both, producer, consumer };

struct BenchParameters {
  std::string queue;       // with several queues: the stem of their names; with `topic`: the topic
  bool own_queue = false;  // named by us, deleted at the end
  std::uint32_t producers = 1;
  std::uint32_t consumers = 1;
  std::uint32_t connections = 1;  // that the consumers share; from 1 to `consumers`
  std::uint32_t queues = 1;
  std::uint64_t messages = 1'000'000;  // 0: as many as duration_ms allows
  std::uint64_t duration_ms = 0;
  std::uint64_t size_bytes = 100;
  std::uint32_t prefetch = 4'096;
  std::uint32_t batch = 256;  // messages a PUBLISH frame at most; 1 = a client that cannot batch
  double rate = 0;            // messages a second of all producers; 0 = as fast as possible
  std::uint64_t work_ms = 0;  // a consumer's time a message
  std::uint64_t warmup = 0;   // messages sent first and not measured
  bool topic = false;  // published to a topic: each consumer has a subscription of its own, and gets every message
  bool verify = false;
  bool separate = false;  // producers in one process, consumers in another
  BenchRole role = BenchRole::both;
  std::uint64_t run_tag = 0;

  std::vector<std::string> queue_names() const;
  // How often each message is to be delivered.
  std::uint64_t copies() const { return topic ? consumers : 1; }
  // That of a consumer: neighbours share one, and no connection has two consumers more than another.
  std::size_t connection_of(std::uint32_t consumer) const { return std::size_t{consumer} * connections / consumers; }
  // The i-th producer's share; the first ones have one more if it does not divide.
  std::uint64_t messages_of(std::uint32_t producer) const { return share(messages, producer); }
  std::uint64_t warmup_of(std::uint32_t producer) const { return share(warmup, producer); }

 private:
  std::uint64_t share(std::uint64_t total, std::uint32_t producer) const {
    return total / producers + (producer < total % producers ? 1 : 0);
  }
};

Json json_of(const BenchParameters& parameters);
// The flags that give a child process the same parameters.
std::vector<std::string> flags_of(const BenchParameters& parameters);

}  // namespace sluice::cli
