#pragma once
// cli/bench/consumers.h: takes messages as user code does: a handler called for each, which acks it on its own.
//
// Threads  each consumer is called on its own thread, also if it shares its Client with others; expect(), stop_waiting() and the counts from any thread.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cli/bench/histogram.h"
#include "cli/bench/parameters.h"
#include "cli/bench/result.h"
#include "cli/bench/sequence_set.h"
#include "sluice/consumer.h"

namespace sluice::cli {

class Consumers {
 public:
  // Connects, and begins to consume.
  Consumers(const Context& context, const BenchParameters& parameters);
  ~Consumers();
  Consumers(const Consumers&) = delete;
  Consumers& operator=(const Consumers&) = delete;

  // So many different messages, or with a topic deliveries of them, are the end.
  void expect(std::uint64_t messages);
  // Waits at most this long for the end; whether it is reached.
  bool wait_for(Milliseconds timeout);
  // After the last wait: asks the broker until it holds nothing more, and closes.
  ConsumersResult finish();

  std::uint64_t acked() const { return acked_.load(std::memory_order_relaxed); }
  // Of all messages measured up to now.
  std::unique_ptr<Histogram> histogram() const;

 private:
  // One cache line's worth of neighbours would be shared by two threads otherwise.
  struct alignas(128) State {
    Histogram histogram;
    std::size_t first_seen = 0;  // its first one in seen_
    std::uint64_t started_ns = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t received_ns = 0;
    std::uint64_t redelivered = 0;
    std::uint64_t doubled = 0;
    std::uint64_t altered = 0;
    std::uint64_t foreign = 0;
  };

  void handle(State& state, Delivery& delivery);
  bool is_new(State& state, const Delivery& delivery, std::uint32_t producer, std::uint64_t sequence);
  std::vector<std::string> own_queues();
  std::uint64_t left();
  void drain(ConsumersResult& result);

  const BenchParameters& parameters_;
  std::vector<std::string> queues_;
  std::vector<std::uint64_t> warmup_;  // by producer
  std::deque<SequenceSet> seen_;       // by producer, with a topic for each consumer anew; with verify only
  std::deque<State> states_;
  std::atomic<std::uint64_t> acked_{0};
  std::atomic<std::uint64_t> expected_{std::numeric_limits<std::uint64_t>::max()};
  std::mutex mutex_;  // for the condition
  std::condition_variable reached_;
  std::deque<Client> clients_;      // one a connection
  std::deque<Consumer> consumers_;  // last: their threads use all of the above
};

}  // namespace sluice::cli
