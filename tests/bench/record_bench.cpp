// What the journal's records cost: runs of 100 messages, and what follows them. The counter `item` is the CPU time of one message
// or record.

#include <benchmark/benchmark.h>

#include <string>

#include "base/check.h"
#include "record/decode.h"
#include "record/encode.h"

namespace {

using namespace sluice::record;

constexpr std::size_t kRun = 100;
constexpr std::size_t kRuns = 100;

void report(benchmark::State& state, std::size_t items, std::size_t bytes) {
  const auto count = static_cast<double>(state.iterations()) * static_cast<double>(items);
  state.counters["item"] = benchmark::Counter(count, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void write_published(RecordWriter& out, const std::string& payload) {
  out.clear();
  for (std::size_t run = 0; run < kRuns; ++run) {
    out.begin_published(7, 1'000'000 + run * kRun, 2'000'000, 1'800'000'000'000, 3, 1'000);
    for (std::size_t i = 0; i < kRun; ++i) benchmark::DoNotOptimize(out.add_message(4, 0, 0, {}, {}, payload));
    out.end_published();
  }
}

void encode_published(benchmark::State& state) {
  RecordWriter out;
  const std::string payload(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) write_published(out, payload);
  report(state, kRun * kRuns, out.size());
}
BENCHMARK(encode_published)->Arg(0)->Arg(100)->Arg(1'000);

void decode_published(benchmark::State& state) {
  RecordWriter out;
  write_published(out, std::string(static_cast<std::size_t>(state.range(0)), 'x'));
  for (auto _ : state) {
    RecordReader reader(out.bytes());
    std::size_t total = 0;
    while (const auto record = reader.next()) {
      for (const PublishedMessage& message : std::get<Published>(*record).messages)
        total += message.body.offset + message.body.payload.size() + message.priority;
    }
    SLUICE_CHECK(!reader.error());
    benchmark::DoNotOptimize(total);
  }
  report(state, kRun * kRuns, out.size());
}
BENCHMARK(decode_published)->Arg(0)->Arg(100)->Arg(1'000);

void write_full(RecordWriter& out, const std::string& payload) {
  out.clear();
  Message message;
  message.published_ms = 1'800'000'000'000;
  message.body.payload = payload;
  for (std::size_t i = 0; i < kRun * kRuns; ++i) {
    message.id = 1'000'000 + i;
    Copy copy;
    copy.queue = 7;
    copy.key = copy.position = 2'000'000 + i;
    benchmark::DoNotOptimize(out.message(message, {&copy, 1}));
  }
}

void encode_message(benchmark::State& state) {
  RecordWriter out;
  const std::string payload(100, 'x');
  for (auto _ : state) write_full(out, payload);
  report(state, kRun * kRuns, out.size());
}
BENCHMARK(encode_message);

void decode_message(benchmark::State& state) {
  RecordWriter out;
  write_full(out, std::string(100, 'x'));
  for (auto _ : state) {
    RecordReader reader(out.bytes());
    std::uint64_t total = 0;
    while (const auto record = reader.next()) {
      const auto& message = std::get<Message>(*record);
      for (const Copy& copy : message.copies) total += copy.key + message.body.offset;
    }
    SLUICE_CHECK(!reader.error());
    benchmark::DoNotOptimize(total);
  }
  report(state, kRun * kRuns, out.size());
}
BENCHMARK(decode_message);

void decode_ended(benchmark::State& state) {
  RecordWriter out;
  for (std::size_t i = 0; i < kRun * kRuns; ++i) out.ended(How::acked, 1'000'000 + i, 1);
  for (auto _ : state) {
    RecordReader reader(out.bytes());
    std::uint64_t total = 0;
    while (const auto record = reader.next()) total += std::get<Ended>(*record).first_key;
    SLUICE_CHECK(!reader.error());
    benchmark::DoNotOptimize(total);
  }
  report(state, kRun * kRuns, out.size());
}
BENCHMARK(decode_ended);

}  // namespace

BENCHMARK_MAIN();
