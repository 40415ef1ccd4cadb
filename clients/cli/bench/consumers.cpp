#include "cli/bench/consumers.h"

#include <algorithm>
#include <set>
#include <thread>

#include "cli/all_pages.h"
#include "cli/bench/payload.h"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kCreditBytesMin = std::uint64_t{1} << 20;
constexpr std::uint64_t kCreditBytesMax = std::uint64_t{64} << 20;

ConsumeOptions consume_options(const BenchParameters& parameters) {
  ConsumeOptions options;
  options.prefetch = parameters.prefetch;
  if (parameters.topic) options.topic = parameters.queue;
  // Messages are to be the limit, not bytes.
  options.prefetch_bytes = std::clamp(parameters.prefetch * parameters.size_bytes, kCreditBytesMin, kCreditBytesMax);
  return options;
}

}  // namespace

Consumers::Consumers(const Context& context, const BenchParameters& parameters)
    : parameters_(parameters),
      queues_(parameters.queue_names()),
      seen_(parameters.verify ? parameters.producers * parameters.copies() : 0),
      states_(parameters.consumers) {
  for (std::uint32_t i = 0; i < parameters.producers; ++i) warmup_.push_back(parameters.warmup_of(i));
  const ClientOptions client_options = context.client_options("bench consumer");
  for (std::uint32_t i = 0; i < parameters.connections; ++i) clients_.emplace_back(context.globals.url, client_options);
  for (std::uint32_t i = 0; i < parameters.consumers; ++i) {
    State& state = states_[i];
    if (parameters.topic) state.first_seen = std::size_t{i} * parameters.producers;
    consumers_.emplace_back(
        clients_[parameters.connection_of(i)], parameters.topic ? "" : queues_[i % queues_.size()],
        [this, &state](Delivery& delivery) { handle(state, delivery); }, consume_options(parameters));
  }
  if (parameters.topic) queues_ = own_queues();
}

// Those of the subscriptions, which the broker named.
std::vector<std::string> Consumers::own_queues() {
  std::set<std::uint64_t> sessions;
  for (Client& client : clients_) sessions.insert(client.server_info().session);
  std::vector<std::string> names;
  for (const ConsumerInfo& consumer : all_consumers(clients_.front(), ""))
    if (sessions.contains(consumer.session)) names.push_back(consumer.queue);
  return names;
}

Consumers::~Consumers() {
  for (Consumer& consumer : consumers_) consumer.close();
}

void Consumers::handle(State& state, Delivery& delivery) {
  const std::uint64_t now_ns = monotonic_ns();
  const std::optional<Stamp> stamp = read_stamp(delivery.payload());
  if (!stamp || run_tag_of(stamp->producer) != parameters_.run_tag ||
      producer_of(stamp->producer) >= parameters_.producers) {
    ++state.foreign;
    delivery.ack();
    return;
  }
  const auto producer = static_cast<std::uint32_t>(producer_of(stamp->producer));
  const bool fresh = is_new(state, delivery, producer, stamp->sequence);
  if (fresh && stamp->sequence >= warmup_[producer]) {
    state.histogram.record(now_ns > stamp->intended_ns ? now_ns - stamp->intended_ns : 0);
    state.started_ns = std::min(state.started_ns, stamp->intended_ns);
  }
  if (parameters_.work_ms > 0) std::this_thread::sleep_for(Milliseconds(parameters_.work_ms));
  delivery.ack();
  state.received_ns = now_ns;
  if (!fresh) return;
  if (acked_.fetch_add(1, std::memory_order_relaxed) + 1 >= expected_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(mutex_);
    reached_.notify_all();
  }
}

bool Consumers::is_new(State& state, const Delivery& delivery, std::uint32_t producer, std::uint64_t sequence) {
  const bool again = delivery.count() > 1;
  if (again) ++state.redelivered;
  if (!parameters_.verify) return !again;
  if (sequence >= SequenceSet::kSequencesMax || delivery.payload().size() != parameters_.size_bytes ||
      !filler_intact(delivery.payload(), sequence)) {
    ++state.altered;
    return false;
  }
  const bool fresh = seen_[state.first_seen + producer].insert(sequence);
  if (!fresh && !again) ++state.doubled;
  return fresh;
}

void Consumers::expect(std::uint64_t messages) {
  const std::lock_guard lock(mutex_);
  expected_.store(messages, std::memory_order_relaxed);
  reached_.notify_all();
}

bool Consumers::wait_for(Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return reached_.wait_for(lock, timeout, [this] { return acked() >= expected_.load(std::memory_order_relaxed); });
}

std::unique_ptr<Histogram> Consumers::histogram() const {
  auto sum = std::make_unique<Histogram>();
  for (const State& state : states_) sum->add(state.histogram);
  return sum;
}

std::uint64_t Consumers::left() {
  std::uint64_t sum = 0;
  for (const std::string& queue : queues_) {
    const QueueInfo info = clients_.front().queue_info(queue);
    sum += info.ready + info.delayed + info.leased;
  }
  return sum;
}

// Handlers have acked; the run ends when the broker has carried that out. Each question is a round trip, so this is no busy loop.
// Messages of others keep a queue from running empty: then the last receipt is the end.
void Consumers::drain(ConsumersResult& result) {
  constexpr std::uint64_t kPatienceNs = 2'000'000'000;
  const std::uint64_t begun = monotonic_ns();
  while (true) {
    result.left = left();
    const std::uint64_t now = monotonic_ns();
    if (result.left == 0) result.ended_ns = now;
    if (result.left == 0 || now - begun > kPatienceNs) return;
  }
}

ConsumersResult Consumers::finish() {
  ConsumersResult result;
  try {
    drain(result);
  } catch (const ClientError& error) {
    result.failure = std::string("asking the broker for what is left: ") + error.what();
  }
  for (Consumer& consumer : consumers_) consumer.close();
  const std::unique_ptr<Histogram> histogram = this->histogram();
  result.acked = acked();
  result.measured = histogram->count();
  result.latency = latency_of(*histogram);
  result.started_ns = std::numeric_limits<std::uint64_t>::max();
  for (const State& state : states_) {
    result.started_ns = std::min(result.started_ns, state.started_ns);
    if (result.left > 0 || !result.failure.empty()) result.ended_ns = std::max(result.ended_ns, state.received_ns);
    result.redelivered += state.redelivered;
    result.doubled += state.doubled;
    result.altered += state.altered;
    result.foreign += state.foreign;
  }
  if (result.measured == 0) result.started_ns = 0;
  return result;
}

}  // namespace sluice::cli
