#pragma once
// cli/bench/producers.h: publishes as user code does: one call a message; batches are the library's.
//
// Threads  one a producer, each with its own Client. published(), confirmed() and stop() from any thread.

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/bench/parameters.h"
#include "cli/bench/result.h"
#include "sluice/client.h"

namespace sluice::cli {

class Producers {
 public:
  // Connects.
  Producers(const Context& context, const BenchParameters& parameters);
  ~Producers();
  Producers(const Producers&) = delete;
  Producers& operator=(const Producers&) = delete;

  void start();
  // No new messages; those under way are still confirmed.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  // All producers have ended, and all they sent is decided. Called once, after start().
  ProducersResult wait();

  std::uint64_t published() const;
  std::uint64_t confirmed() const;

 private:
  struct Producer {
    Producer(const Context& context, const ClientOptions& options) : client(context.globals.url, options) {}
    Client client;
    std::atomic<std::uint64_t> published{0};
  };

  void run(std::uint32_t index);
  void publish_all(std::uint32_t index);
  void keep_failure(const std::string& text);

  const BenchParameters& parameters_;
  const std::vector<std::string> queues_;
  const Milliseconds patience_;
  std::deque<Producer> producers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopped_{false};
  std::uint64_t started_ns_ = 0;
  std::mutex mutex_;  // guards failure_
  std::string failure_;
};

}  // namespace sluice::cli
