// sluice bench: how fast, and whether exact.

#include <unistd.h>

#include <cstdio>
#include <random>

#include "cli/bench/payload.h"
#include "cli/bench/presets.h"
#include "cli/bench/run.h"
#include "cli/commands/commands.h"
#include "cli/options.h"
#include "cli/stop_signals.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kWorkersMax = 10'000;
constexpr std::uint64_t kPrefetchMax = 65'535;
constexpr std::uint64_t kBatchMax = 65'536;
constexpr std::uint64_t kSizeMax = std::uint64_t{8} * 1024 * 1024;
constexpr double kRateMax = 100'000'000;
constexpr std::uint64_t kRunTagMax = (std::uint64_t{1} << 47) - 1;

struct BenchOptions {
  BenchParameters parameters;
  const Preset* preset = nullptr;
  std::uint64_t messages = 0;     // 0: not given
  std::uint32_t connections = 0;  // 0: not given
  bool csv = false;
  bool led = false;
};

std::uint64_t random_tag() {
  std::random_device device;
  return ((std::uint64_t{device()} << 32) | device()) & kRunTagMax;
}

void check_combination(const Context& context, const BenchOptions& options) {
  const BenchParameters& parameters = options.parameters;
  const std::string hint = "see sluice bench --help";
  if (options.csv && context.globals.json) throw usage_failure("bench: --csv and --json exclude each other", hint);
  if (parameters.duration_ms > 0 && options.messages > 0)
    throw usage_failure("bench: --duration and --msgs exclude each other", hint);
  if (options.preset != nullptr && (parameters.duration_ms > 0 || options.messages > 0))
    throw usage_failure("bench: --preset says how many messages", hint);
  if (parameters.topic && (parameters.queues > 1 || options.preset != nullptr))
    throw usage_failure("bench: --topic excludes --queues and --preset", hint);
  if (parameters.consumers < parameters.queues && parameters.role != BenchRole::producer)
    throw usage_failure(
        "bench: every queue needs a consumer: --consumers " + std::to_string(parameters.queues) + " or more", hint);
  if (parameters.role != BenchRole::both && (parameters.queue.empty() || parameters.separate))
    throw usage_failure("bench: --role needs QUEUE, and excludes --separate", hint);
  if (parameters.role == BenchRole::consumer && parameters.duration_ms > 0 && !options.led)
    throw usage_failure("bench: a consumer on its own is told with --msgs when it is done", hint);
}

BenchResult run_once(Context& context, BenchParameters parameters, const std::atomic<bool>& stopped) {
  parameters.run_tag = parameters.role == BenchRole::both ? random_tag() : 0;
  if (parameters.queue.empty()) {
    parameters.own_queue = true;
    parameters.queue = "bench-" + std::to_string(getpid()) + "-" + std::to_string(parameters.run_tag);
  }
  BenchResult result =
      parameters.separate ? run_separate(context, parameters, stopped) : run_here(context, parameters, stopped);
  if (parameters.own_queue && !parameters.topic) {
    Client client = context.connect("bench");
    for (const std::string& queue : parameters.queue_names()) client.delete_queue(queue);
  }
  return result;
}

void print(Context& context, const BenchOptions& options, const BenchResult& result, const PresetRun* preset) {
  if (context.globals.json) {
    Json object = json_of(result);
    if (preset != nullptr) {
      object["preset"] = options.preset->name;
      object["smaller_broker"] = preset->published;
    }
    context.out.object(object);
  } else if (options.csv) {
    context.out.line(csv_of(result));
  } else {
    context.out.bytes(text_of(result));
    if (preset != nullptr) {
      char times[64];
      std::snprintf(times, sizeof times, "%.0f", result.rate() / preset->published_rate_max);
      context.out.line("published   by a smaller broker: " + preset->published + " (" + times +
                       " times as fast here)\n");
    }
  }
  context.out.flush();
}

// REQUIRES: the run's consumers are known. `wanted` 0: one for each.
void set_connections(BenchParameters& run, std::uint32_t wanted) {
  run.connections = wanted == 0 ? run.consumers : wanted;
  if (run.connections <= run.consumers) return;
  throw usage_failure("bench: --connections must be at most the number of consumers (" + std::to_string(run.consumers) +
                          "), not " + std::to_string(wanted),
                      "see sluice bench --help");
}

std::vector<BenchParameters> runs_of(const BenchOptions& options) {
  BenchParameters parameters = options.parameters;
  if (options.messages > 0) parameters.messages = options.messages;
  if (parameters.duration_ms > 0) parameters.messages = 0;
  std::vector<BenchParameters> runs;
  if (options.preset == nullptr) {
    runs.push_back(parameters);
  } else {
    for (const PresetRun& run : options.preset->runs) {
      parameters.consumers = run.consumers;
      parameters.prefetch = run.prefetch;
      parameters.messages = run.messages;
      runs.push_back(parameters);
    }
  }
  for (BenchParameters& run : runs) set_connections(run, options.connections);
  return runs;
}

Exit run_bench(Context& context, const BenchOptions& options) {
  check_combination(context, options);
  const std::vector<BenchParameters> runs = runs_of(options);
  if (options.led) return run_led(context, runs.front());
  StopSignals signals;
  std::atomic<bool> stopped{false};
  signals.watch([&stopped] { stopped.store(true); }, [] {});
  if (options.csv) context.out.line(csv_heading());
  std::string failure;
  std::size_t index = 0;
  for (const BenchParameters& parameters : runs) {
    if (stopped.load()) break;
    const BenchResult result = run_once(context, parameters, stopped);
    print(context, options, result, options.preset == nullptr ? nullptr : &options.preset->runs[index]);
    if (failure.empty()) failure = result.failure();
    ++index;
  }
  // After the figures, and on stderr also with --json: stdout keeps one form.
  if (failure.empty()) return Exit::done;
  note("not exact: " + failure);
  return Exit::failed;
}

void read_role(BenchParameters& parameters, const std::string& flag, const std::string& text) {
  if (text == "both") {
    parameters.role = BenchRole::both;
  } else if (text == "producer") {
    parameters.role = BenchRole::producer;
  } else if (text == "consumer") {
    parameters.role = BenchRole::consumer;
  } else {
    throw CLI::ValidationError(flag, "must be both, producer or consumer, not '" + text + "'");
  }
}

void read_preset(BenchOptions& options, const std::string& flag, const std::string& text) {
  options.preset = find_preset(text);
  if (options.preset != nullptr) return;
  std::string names;
  for (const std::string& name : preset_names()) names += (names.empty() ? "" : ", ") + name;
  throw CLI::ValidationError(flag, "must be one of " + names + ", not '" + text + "'");
}

void add_load_flags(CLI::App& command, BenchOptions& options) {
  BenchParameters& parameters = options.parameters;
  add_number(command, "--producers", parameters.producers, {1, kWorkersMax},
             "publishing threads, each with a connection (1)");
  add_number(command, "--consumers", parameters.consumers, {1, kWorkersMax},
             "consumers, each called on a thread of its own (1)");
  add_number(command, "--connections", options.connections, {1, kWorkersMax},
             "connections that the consumers share, spread evenly (one for each consumer)");
  add_number(command, "--queues", parameters.queues, {1, kWorkersMax}, "queues, used in turn (1)");
  add_number(command, "--msgs", options.messages, {.min = 1}, "messages in all (1000000)");
  add_duration(command, "--duration", parameters.duration_ms, "publish for so long instead");
  add_size(command, "--size", parameters.size_bytes, "payload (100)")->check([](const std::string& text) {
    const std::uint64_t size = parse_size("--size", text);
    if (size >= kPayloadBytesMin && size <= kSizeMax) return std::string{};
    return "must be from " + std::to_string(kPayloadBytesMin) + " to " + std::to_string(kSizeMax) + " bytes, not '" +
           text + "'";
  });
  add_number(command, "--prefetch", parameters.prefetch, {1, kPrefetchMax},
             "messages a consumer holds at a time (4096)");
  add_number(command, "--batch", parameters.batch, {1, kBatchMax},
             "messages a publish frame at most; 1: no batches (256)");
  add_decimal(command, "--rate", parameters.rate, 0.001, kRateMax, "messages a second in all (as fast as possible)");
  add_duration(command, "--work", parameters.work_ms, "a consumer's time for each message (0ms)");
  add_number(command, "--warmup", parameters.warmup, {}, "messages sent first and not measured (0)");
}

void add_form_flags(CLI::App& command, BenchOptions& options) {
  BenchParameters& parameters = options.parameters;
  command.add_flag("--topic", parameters.topic,
                   "publish to a topic (QUEUE is its name); each consumer has a subscription of its own and gets all");
  command.add_flag("--verify", parameters.verify, "check that nothing is lost, doubled or altered");
  command.add_flag("--separate", parameters.separate, "producers in one process, consumers in another");
  add_value(
      command, "--role", "ROLE", "both, or only the producer or the consumer of two that you start (both)",
      [&options](const std::string& flag, const std::string& text) { read_role(options.parameters, flag, text); });
  add_value(command, "--preset", "NAME", "small, large or cliff: runs whose figures a smaller broker published",
            [&options](const std::string& flag, const std::string& text) { read_preset(options, flag, text); });
  command.add_flag("--csv", options.csv, "a heading and one line a run");
  command.add_flag("--led", options.led)->group("");
  add_number(command, "--run-tag", parameters.run_tag, {0, kRunTagMax}, "")->group("");
}

}  // namespace

void add_bench(Registry& registry) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App& command = registry.add_command(registry.root(), "bench",
                                           "Publishes and consumes, each message published by a call of its own, "
                                           "confirmed, and acked on its own. Latency is measured from\n"
                                           "the intended send time to the handler. One line a second on stderr; the "
                                           "figures on stdout. Without QUEUE it uses one of its\n"
                                           "own and deletes it. Exit 1: not exact.",
                                           "sluice bench --separate --msgs 5000000 --verify\n"
                                           "  sluice bench --separate --topic --consumers 10 --msgs 300000",
                                           [options](Context& context) { return run_bench(context, *options); });
  command.add_option("QUEUE", options->parameters.queue, "the queue (several: the stem of their names), or topic");
  add_load_flags(command, *options);
  add_form_flags(command, *options);
}

}  // namespace sluice::cli
