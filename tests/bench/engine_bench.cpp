// What a message costs inside the broker, without a socket: decoded frame in, encoded frames out.
//
// Settings: payloads of 100 bytes, frames of 100 messages, one consumer a queue with credit for all, acks as one range a frame.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/engine.h"
#include "outbox/outbox.h"

namespace {

using namespace sluice;

constexpr std::size_t kFrameMessages = 100;
constexpr SessionId kSession{1};

// Takes every frame, and remembers the last lease told.
class Sink final : public io::Router {
 public:
  io::Ready wait(std::int64_t) override { return {}; }
  bool receive(io::Received&) override { return false; }
  io::RouterEvents events() override { return {}; }
  io::SendResult send(const io::Route&, wire::Buffer& frame) override {
    bytes += frame.size();
    frame.clear();
    return io::SendResult::sent;
  }
  std::uint64_t bytes = 0;
};

struct Bench {
  Bench() : outbox({}, sink), engine({}, records, outbox) {
    outbox.open(kSession, "route");
    engine.open_session(kSession, "");
    for (std::size_t i = 0; i < kFrameMessages; ++i) frame.messages.push_back({payload, {}, 0, 4});
  }

  void publish(std::string_view target, wire::PublishKind kind) {
    frame.queue = target;
    frame.kind = kind;
    frame.first_sequence = next_sequence;
    next_sequence += kFrameMessages;
    engine.apply(kSession, frame, now);
  }
  void consume(std::uint64_t consumer, std::string_view queue) {
    engine.apply(kSession, wire::Consume{consumer, consumer, queue, 65'535, 1 << 30});
  }
  // Acks what was handed out by the last turn, and grants it anew.
  void ack(std::uint64_t consumers) {
    wire::Settle settle;
    settle.settlements.push_back(
        {wire::Verb::ack, next_lease, next_lease + kFrameMessages * consumers - 1, {}, {}, {}});
    next_lease += kFrameMessages * consumers;
    for (std::uint64_t consumer = 1; consumer <= consumers; ++consumer)
      settle.grants.push_back({consumer, kFrameMessages, kFrameMessages * payload.size()});
    engine.apply(kSession, settle, now);
  }
  void turn() {
    engine.finish_turn(now);
    outbox.seal(Sequence{1});
    outbox.send_through(Sequence{1});
    outbox.forget_told();
  }

  engine::Now now{1'000'000, 1'700'000'000'000};
  engine::NoRecords records;
  Sink sink;
  outbox::Outbox outbox;
  engine::Engine engine;
  const std::string payload = std::string(100, 'x');
  wire::Publish frame;
  std::uint64_t next_sequence = 1;
  std::uint64_t next_lease = 1;
};

void publish_deliver_ack(benchmark::State& state) {
  Bench bench;
  bench.consume(1, "jobs");
  bench.turn();
  for (auto _ : state) {
    bench.publish("jobs", wire::PublishKind::queue);
    bench.turn();
    bench.ack(1);
    bench.turn();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kFrameMessages));
}
BENCHMARK(publish_deliver_ack);

// Items are deliveries: each publish reaches ten queues, is delivered and acked in each.
void fan_out_to_ten(benchmark::State& state) {
  constexpr std::uint64_t kQueues = 10;
  Bench bench;
  for (std::uint64_t i = 1; i <= kQueues; ++i) {
    const std::string queue = "q" + std::to_string(i);
    bench.engine.apply(
        kSession, wire::Request{i, "bind.add", wire::Map().set("queue", queue).set("pattern", "orders.#")}, bench.now);
    bench.consume(i, queue);
  }
  bench.turn();
  for (auto _ : state) {
    bench.publish("orders.eu.paid", wire::PublishKind::topic);
    bench.turn();
    bench.ack(kQueues);
    bench.turn();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kFrameMessages * kQueues));
}
BENCHMARK(fan_out_to_ten);

// Heap bytes of a queue that was published to once and is empty, of a ready and of a delayed message, beside the payload.
void memory(benchmark::State& state) {
  const auto heap = [] { return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); };
  constexpr std::size_t kQueues = 10'000;
  constexpr std::size_t kFrames = 2'000;
  for (auto _ : state) {
    Bench bench;
    const double before = heap();
    for (std::size_t i = 0; i < kQueues; ++i) {
      bench.engine.apply(kSession,
                         wire::Request{1, "queue.declare", wire::Map().set("name", "queue-" + std::to_string(i))},
                         bench.now);
      bench.turn();
    }
    const double with_queues = heap();
    for (std::size_t i = 0; i < kFrames; ++i) {
      bench.publish("queue-1", wire::PublishKind::queue);
      bench.turn();
    }
    const double with_ready = heap();
    for (auto& message : bench.frame.messages) message.delay_ms = 3'600'000;
    for (std::size_t i = 0; i < kFrames; ++i) {
      bench.publish("queue-2", wire::PublishKind::queue);
      bench.turn();
    }
    const double with_delayed = heap();
    const double messages = static_cast<double>(kFrames * kFrameMessages);
    state.counters["bytes_a_queue"] = (with_queues - before) / static_cast<double>(kQueues);
    state.counters["bytes_a_ready_message"] = (with_ready - with_queues) / messages - 100;
    state.counters["bytes_a_delayed_message"] = (with_delayed - with_ready) / messages - 100;
  }
}
BENCHMARK(memory)->Iterations(1)->Unit(benchmark::kMillisecond);

// The longest turn while 30,000 leases end in the same millisecond.
void longest_turn_of_30000_leases_that_end(benchmark::State& state) {
  double longest_ms = 0;
  for (auto _ : state) {
    Bench bench;
    bench.consume(1, "jobs");
    for (std::size_t i = 0; i < 300; ++i) {
      bench.publish("jobs", wire::PublishKind::queue);
      bench.turn();
    }
    bench.now.steady_ms += 30'000;
    bool more = true;
    while (more) {
      const auto began = std::chrono::steady_clock::now();
      more = bench.engine.finish_turn(bench.now);
      longest_ms = std::max(
          longest_ms, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    }
  }
  state.counters["longest_turn_ms"] = longest_ms;
}
BENCHMARK(longest_turn_of_30000_leases_that_end)->Iterations(5)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
