// What the codec costs: frames of 100 messages of 100 bytes, and of one. The counter `message` is the CPU time of one
// message; the time of the line is that of the whole frame.

#include <benchmark/benchmark.h>

#include <string>

#include "base/check.h"
#include "wire/codec.h"

namespace {

using namespace sluice::wire;

const std::string kPayload(100, 'x');

void report(benchmark::State& state, std::size_t messages, std::size_t bytes) {
  const auto count = static_cast<double>(state.iterations()) * static_cast<double>(messages);
  state.counters["message"] = benchmark::Counter(count, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

std::size_t count_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

Buffer publish_frame(PublishWriter& writer, std::size_t count, std::string_view headers = {}) {
  writer.begin("orders", 1'000'000);
  for (std::size_t i = 0; i < count; ++i) writer.append({.payload = kPayload, .headers = headers});
  return writer.finish();
}

Buffer deliver_frame(DeliverWriter& writer, std::size_t count) {
  writer.begin(1, 1'000'000, 30'000);
  for (std::size_t i = 0; i < count; ++i) {
    writer.append({.id = 2'000'000 + i, .payload = kPayload, .headers = {}, .dead = {}});
  }
  return writer.finish();
}

void encode_publish(benchmark::State& state) {
  PublishWriter writer;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Buffer frame = publish_frame(writer, count_of(state));
    bytes = frame.size();
    benchmark::DoNotOptimize(frame.view().data());
  }
  report(state, count_of(state), bytes);
}

void decode_publish(benchmark::State& state) {
  PublishWriter writer;
  const Buffer frame = publish_frame(writer, count_of(state));
  for (auto _ : state) {
    const auto decoded = decode_client_frame(frame.view());
    SLUICE_CHECK(decoded.has_value());
    benchmark::DoNotOptimize(&*decoded);
  }
  report(state, count_of(state), frame.size());
}

void decode_publish_with_headers(benchmark::State& state) {
  Buffer headers;
  encode(Map().set("content-type", "text/plain").set("trace", 123'456'789), headers);
  PublishWriter writer;
  const Buffer frame = publish_frame(writer, count_of(state), headers.view());
  for (auto _ : state) {
    const auto decoded = decode_client_frame(frame.view());
    SLUICE_CHECK(decoded.has_value());
    benchmark::DoNotOptimize(&*decoded);
  }
  report(state, count_of(state), frame.size());
}

void encode_deliver(benchmark::State& state) {
  DeliverWriter writer;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Buffer frame = deliver_frame(writer, count_of(state));
    bytes = frame.size();
    benchmark::DoNotOptimize(frame.view().data());
  }
  report(state, count_of(state), bytes);
}

void decode_deliver(benchmark::State& state) {
  DeliverWriter writer;
  const Buffer frame = deliver_frame(writer, count_of(state));
  for (auto _ : state) {
    const auto decoded = decode_broker_frame(frame.view());
    SLUICE_CHECK(decoded.has_value());
    benchmark::DoNotOptimize(&*decoded);
  }
  report(state, count_of(state), frame.size());
}

// Leases settled one by one, as a client writes them whose acks do not join into ranges.
Buffer settle_frame(std::size_t count) {
  Settle settle;
  for (std::uint64_t i = 0; i < count; ++i) {
    Settlement& item = settle.settlements.emplace_back();
    item.first_lease = item.last_lease = 1'000'000 + 2 * i;
  }
  settle.grants.push_back({1, count, 100 * count});
  Buffer frame;
  encode(ClientFrame(settle), frame);
  return frame;
}

void decode_settle(benchmark::State& state) {
  const Buffer frame = settle_frame(count_of(state));
  for (auto _ : state) {
    const auto decoded = decode_client_frame(frame.view());
    SLUICE_CHECK(decoded.has_value());
    benchmark::DoNotOptimize(&*decoded);
  }
  report(state, count_of(state), frame.size());
}

BENCHMARK(encode_publish)->Arg(100)->Arg(1);
BENCHMARK(decode_publish)->Arg(100)->Arg(1);
BENCHMARK(decode_publish_with_headers)->Arg(100)->Arg(1);
BENCHMARK(encode_deliver)->Arg(100)->Arg(1);
BENCHMARK(decode_deliver)->Arg(100)->Arg(1);
BENCHMARK(decode_settle)->Arg(100)->Arg(1);

}  // namespace

BENCHMARK_MAIN();
