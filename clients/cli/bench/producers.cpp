#include "cli/bench/producers.h"

#include <sys/prctl.h>

#include <limits>

#include "cli/bench/payload.h"

namespace sluice::cli {
namespace {

// The intended send time of each message. At a rate: fixed beforehand, so that a stall of ours counts against the messages behind it.
// As fast as possible: now, read for every 16th message, since a clock read is a part of what a message costs.
class Pace {
 public:
  Pace(double rate_each, std::uint64_t started_ns, double offset) : started_ns_(started_ns), offset_(offset) {
    if (rate_each > 0) interval_ns_ = 1e9 / rate_each;
  }

  std::uint64_t intended_ns(std::uint64_t sequence) {
    if (interval_ns_ <= 0) {
      if ((sequence & 15) == 0) now_ns_ = monotonic_ns();
      return now_ns_;
    }
    const double since = (static_cast<double>(sequence) + offset_) * interval_ns_;
    const std::uint64_t intended = started_ns_ + static_cast<std::uint64_t>(since);
    if (monotonic_ns() < intended) sleep_until(intended);
    return intended;
  }

 private:
  static void sleep_until(std::uint64_t at_ns) {
    const std::chrono::nanoseconds since_epoch(static_cast<std::int64_t>(at_ns));
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(since_epoch));
  }

  const std::uint64_t started_ns_;
  const double offset_;  // producers take turns
  double interval_ns_ = 0;
  std::uint64_t now_ns_ = 0;
};

}  // namespace

Producers::Producers(const Context& context, const BenchParameters& parameters)
    : parameters_(parameters), queues_(parameters.queue_names()), patience_(context.timeout()) {
  ClientOptions options = context.client_options("bench producer");
  options.batch_messages_max = parameters.batch;
  for (std::uint32_t i = 0; i < parameters.producers; ++i) producers_.emplace_back(context, options);
}

Producers::~Producers() {
  stop();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Producers::start() {
  started_ns_ = monotonic_ns();
  for (std::uint32_t i = 0; i < parameters_.producers; ++i) threads_.emplace_back([this, i] { run(i); });
}

void Producers::run(std::uint32_t index) {
  prctl(PR_SET_TIMERSLACK, 1);  // ns; by default the kernel may wake us 50 us late
  try {
    publish_all(index);
  } catch (const ClientError& error) {
    keep_failure(std::string("publishing: ") + error.what());
  }
}

void Producers::publish_all(std::uint32_t index) {
  Producer& producer = producers_[index];
  PublishOptions options;
  options.to_topic = parameters_.topic;
  PayloadWriter payload(parameters_.size_bytes, producer_tag(parameters_.run_tag, index));
  Pace pace(parameters_.rate / parameters_.producers, started_ns_, static_cast<double>(index) / parameters_.producers);
  const bool timed = parameters_.duration_ms > 0;
  const std::uint64_t count = timed ? std::numeric_limits<std::uint64_t>::max() : parameters_.messages_of(index);
  const std::uint64_t until_ns =
      timed ? started_ns_ + parameters_.duration_ms * 1'000'000 : std::numeric_limits<std::uint64_t>::max();
  std::size_t queue = index % queues_.size();
  for (std::uint64_t sequence = 0; sequence < count; ++sequence) {
    const std::uint64_t intended_ns = pace.intended_ns(sequence);
    if (intended_ns >= until_ns || stopped_.load(std::memory_order_relaxed)) break;
    producer.client.publish_nowait(queues_[queue], payload.write(sequence, intended_ns), options);
    producer.published.store(sequence + 1, std::memory_order_relaxed);
    if (++queue == queues_.size()) queue = 0;
  }
  // What is under way may take longer than one wait, as long as confirms come.
  while (true) {
    const std::uint64_t before = producer.client.confirmed();
    try {
      producer.client.flush(patience_);
      return;
    } catch (const ClientError& error) {
      if (error.code() != kErrorTimeout || producer.client.confirmed() == before) throw;
    }
  }
}

ProducersResult Producers::wait() {
  for (std::thread& thread : threads_) thread.join();
  ProducersResult result;
  result.ended_ns = monotonic_ns();
  result.started_ns = started_ns_;
  result.published = published();
  result.confirmed = confirmed();
  const std::lock_guard lock(mutex_);
  result.failure = failure_;
  return result;
}

std::uint64_t Producers::published() const {
  std::uint64_t sum = 0;
  for (const Producer& producer : producers_) sum += producer.published.load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t Producers::confirmed() const {
  std::uint64_t sum = 0;
  for (const Producer& producer : producers_) sum += producer.client.confirmed();
  return sum;
}

void Producers::keep_failure(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = text;
}

}  // namespace sluice::cli
