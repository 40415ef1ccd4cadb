// The two processes of `sluice bench --separate`: what their parent does, and what they do.

#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>
#include <optional>

#include "cli/bench/consumers.h"
#include "cli/bench/led_child.h"
#include "cli/bench/parent_lines.h"
#include "cli/bench/producers.h"
#include "cli/bench/progress.h"
#include "cli/bench/run.h"

namespace sluice::cli {
namespace {

constexpr Milliseconds kInterval{1'000};

// What the parent knows of one child. Written by the child's reader thread.
struct ChildState {
  bool ready = false;
  bool ended = false;
  Counts counts;
  Json result;  // null until it has come
  Json error;   // the error object of a child that failed
};

class Leader {
 public:
  Leader(const Context& context, const BenchParameters& parameters, const std::atomic<bool>& stopped)
      : parameters_(parameters),
        stopped_(stopped),
        consuming_(arguments(context, "consumer"), [this](const Json& line) { take(consumer_, line); }),
        publishing_(arguments(context, "producer"), [this](const Json& line) { take(producer_, line); }) {}

  BenchResult run();

 private:
  std::vector<std::string> arguments(const Context& context, const std::string& role) const;
  void take(ChildState& child, const Json& line);
  // Waits until `done`; throws when a child ended before its result. Lines go on meanwhile. Gives up after idle_limit() without
  // an ack if `bounded`.
  template <class Done>
  bool wait(const Done& done, bool bounded);
  void demand_alive() const;
  void tick();
  [[noreturn]] static void refuse(const ChildState& child);

  const BenchParameters& parameters_;
  const std::atomic<bool>& stopped_;
  std::mutex mutex_;  // guards the states
  std::condition_variable changed_;
  ChildState consumer_;
  ChildState producer_;
  Progress progress_;
  bool told_stop_ = false;
  LedChild consuming_;  // last: their readers use what is above
  LedChild publishing_;
};

std::vector<std::string> Leader::arguments(const Context& context, const std::string& role) const {
  std::vector<std::string> words{"bench"};
  for (std::string& flag : flags_of(parameters_)) words.push_back(std::move(flag));
  for (const std::string& word :
       {std::string("--role"), role, std::string("--led"), std::string("--json"), std::string("--url"),
        context.globals.url, std::string("--timeout"), std::to_string(context.globals.timeout_ms) + "ms"})
    words.push_back(word);
  return words;
}

void Leader::take(ChildState& child, const Json& line) {
  const std::lock_guard lock(mutex_);
  if (line.is_null()) child.ended = true;
  if (line.contains("ready")) child.ready = true;
  if (line.contains("error")) child.error = line["error"];
  if (line.contains("produced")) child.result = line["produced"];
  if (line.contains("consumed")) child.result = line["consumed"];
  if (line.contains("progress")) {
    const Json& progress = line["progress"];
    child.counts = {progress.at("published"), progress.at("confirmed"), progress.at("acked"), progress.at("p99_us")};
  }
  changed_.notify_all();
}

void Leader::refuse(const ChildState& child) {
  if (!child.error.is_object())
    throw Failure(Exit::failed, kErrorBench, "bench", "a process of the benchmark ended without a result");
  const Json& error = child.error;
  // Its number says which exit code it has, as it would here.
  throw failure_of(ClientError(error.at("code"), error.at("name"), error.at("message"), false, error.at("hint")));
}

void Leader::demand_alive() const {
  for (const ChildState* child : {&consumer_, &producer_}) {
    if (child->ended && child->result.is_null()) refuse(*child);
  }
}

void Leader::tick() {
  if (stopped_.load() && !told_stop_) {
    told_stop_ = true;
    publishing_.tell("stop");
  }
  progress_.line(
      {producer_.counts.published, producer_.counts.confirmed, consumer_.counts.acked, consumer_.counts.p99_us}, true);
}

template <class Done>
bool Leader::wait(const Done& done, bool bounded) {
  std::unique_lock lock(mutex_);
  std::uint64_t last_acked = consumer_.counts.acked;
  Milliseconds idle{0};
  auto next = std::chrono::steady_clock::now() + kInterval;
  while (!done()) {
    demand_alive();
    if (changed_.wait_until(lock, next) == std::cv_status::no_timeout) continue;
    next += kInterval;
    tick();
    idle = consumer_.counts.acked == last_acked ? idle + kInterval : Milliseconds(0);
    last_acked = consumer_.counts.acked;
    if (bounded && idle > idle_limit(parameters_)) return false;
  }
  return true;
}

BenchResult Leader::run() {
  BenchResult result{parameters_, std::nullopt, std::nullopt};
  wait([&] { return consumer_.ready; }, false);
  wait([&] { return producer_.ready; }, false);
  publishing_.tell("go");
  wait([&] { return !producer_.result.is_null(); }, false);
  result.produced = producers_result_of(producer_.result);
  consuming_.tell("expect " + std::to_string(result.produced->confirmed * parameters_.copies()));
  if (!wait([&] { return !consumer_.result.is_null(); }, true)) {
    consuming_.tell("stop");
    wait([&] { return !consumer_.result.is_null(); }, false);
  }
  result.consumed = consumers_result_of(consumer_.result);
  return result;
}

// --- The child's side.

void tell(Context& context, const Json& line) {
  context.out.object(line);
  context.out.flush();
}

void tell_progress(Context& context, const Counts& counts) {
  tell(context, {{"progress",
                  {{"published", counts.published},
                   {"confirmed", counts.confirmed},
                   {"acked", counts.acked},
                   {"p99_us", counts.p99_us}}}});
}

void publish_led(Context& context, const BenchParameters& parameters) {
  Producers producers(context, parameters);
  std::promise<void> go;
  const ParentLines lines([&](const std::string& line) {
    if (line == "go") go.set_value();
    if (line == "stop") producers.stop();
  });
  tell(context, {{"ready", true}});
  go.get_future().wait();
  producers.start();
  std::future<ProducersResult> result = std::async(std::launch::async, [&] { return producers.wait(); });
  while (result.wait_for(kInterval) != std::future_status::ready)
    tell_progress(context, {producers.published(), producers.confirmed(), 0, 0});
  const ProducersResult produced = result.get();
  tell_progress(context, {produced.published, produced.confirmed, 0, 0});
  tell(context, {{"produced", json_of(produced)}});
}

void consume_led(Context& context, const BenchParameters& parameters) {
  Consumers consumers(context, parameters);
  const ParentLines lines([&](const std::string& line) {
    constexpr std::string_view kExpect = "expect ";
    if (line.starts_with(kExpect)) consumers.expect(std::stoull(line.substr(kExpect.size())));
    if (line == "stop") consumers.expect(0);
  });
  tell(context, {{"ready", true}});
  IntervalLatency interval;
  while (!consumers.wait_for(kInterval))
    tell_progress(context, {0, 0, consumers.acked(), interval.p99_us(*consumers.histogram())});
  tell(context, {{"consumed", json_of(consumers.finish())}});
}

}  // namespace

BenchResult run_separate(const Context& context, const BenchParameters& parameters, const std::atomic<bool>& stopped) {
  Leader leader(context, parameters, stopped);
  return leader.run();
}

Exit run_led(Context& context, const BenchParameters& parameters) {
  // A Ctrl-C reaches the whole group; the parent alone decides what it means.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  if (parameters.role == BenchRole::producer) {
    publish_led(context, parameters);
  } else {
    consume_led(context, parameters);
  }
  return Exit::done;
}

}  // namespace sluice::cli
