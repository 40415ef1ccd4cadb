#include "cli/bench/run.h"

#include <algorithm>
#include <future>
#include <optional>

#include "cli/bench/consumers.h"
#include "cli/bench/producers.h"
#include "cli/bench/progress.h"

namespace sluice::cli {
namespace {

constexpr Milliseconds kInterval{1'000};
constexpr Milliseconds kIdleMin{10'000};

// Ends the consumers' wait when nothing comes any more, and says how the run goes meanwhile.
class Watch {
 public:
  Watch(const BenchParameters& parameters, const std::atomic<bool>& stopped)
      : idle_limit_(idle_limit(parameters)), stopped_(stopped) {}

  // True when no message has come for too long.
  bool tick(Producers* producers, Consumers* consumers) {
    if (producers != nullptr && stopped_.load()) producers->stop();
    Counts counts;
    if (producers != nullptr) {
      counts.published = producers->published();
      counts.confirmed = producers->confirmed();
    }
    if (consumers != nullptr) {
      counts.acked = consumers->acked();
      counts.p99_us = interval_.p99_us(*consumers->histogram());
    }
    progress_.line(counts, consumers != nullptr);
    if (counts.acked != last_acked_) idle_ = Milliseconds(0);
    last_acked_ = counts.acked;
    idle_ += kInterval;
    return idle_ > idle_limit_;
  }

 private:
  const Milliseconds idle_limit_;
  const std::atomic<bool>& stopped_;
  Progress progress_;
  IntervalLatency interval_;
  std::uint64_t last_acked_ = 0;
  Milliseconds idle_{0};
};

// The producers' end, awaited while the lines go on.
ProducersResult wait_for_producers(Producers& producers, Consumers* consumers, Watch& watch) {
  std::future<ProducersResult> result = std::async(std::launch::async, [&] { return producers.wait(); });
  while (result.wait_for(kInterval) != std::future_status::ready) watch.tick(&producers, consumers);
  return result.get();
}

void wait_for_consumers(Consumers& consumers, Producers* producers, Watch& watch, const std::atomic<bool>& stopped) {
  while (!consumers.wait_for(kInterval)) {
    if (watch.tick(producers, &consumers)) return;
    if (producers == nullptr && stopped.load()) return;
  }
}

}  // namespace

Milliseconds idle_limit(const BenchParameters& parameters) {
  const auto work = Milliseconds(static_cast<std::int64_t>(parameters.work_ms * 2));
  const auto gap = Milliseconds(parameters.rate > 0 ? static_cast<std::int64_t>(2'000 / parameters.rate) : 0);
  return std::max({kIdleMin, work, gap});
}

BenchResult run_here(const Context& context, const BenchParameters& parameters, const std::atomic<bool>& stopped) {
  BenchResult result{parameters, std::nullopt, std::nullopt};
  std::optional<Consumers> consumers;
  std::optional<Producers> producers;
  // Consumers first: the measured time is not that in which they connect.
  if (parameters.role != BenchRole::producer) consumers.emplace(context, parameters);
  if (parameters.role != BenchRole::consumer) producers.emplace(context, parameters);
  Consumers* const taking = consumers ? &*consumers : nullptr;
  Watch watch(parameters, stopped);
  if (producers) {
    producers->start();
    result.produced = wait_for_producers(*producers, taking, watch);
  }
  if (taking != nullptr) {
    taking->expect((result.produced ? result.produced->confirmed : parameters.messages) * parameters.copies());
    wait_for_consumers(*taking, producers ? &*producers : nullptr, watch, stopped);
    result.consumed = taking->finish();
  }
  return result;
}

}  // namespace sluice::cli
