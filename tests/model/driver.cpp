#include "driver.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/engine.h"
#include "generator.h"
#include "invariants.h"
#include "model.h"
#include "recorder.h"
#include "shadow.h"
#include "wire/errors.h"

namespace sluice::model {
namespace {

constexpr std::size_t kTraceMax = 24;
constexpr std::uint64_t kAdmin = 1'000'000;  // the session that looks; no other has its number
constexpr engine::Now kStart{1'000'000, 1'700'000'000'000};

engine::EngineOptions engine_options(const Options& options) {
  engine::EngineOptions out;
  const Result<engine::Policy> policy = engine::read_policy(to_map(options.rules), engine::Policy());
  if (!policy) throw Mismatch("the engine refuses the default policy: " + policy.error().text);
  out.policy = *policy;
  out.auto_create = options.auto_create;
  out.credit = {options.credit_messages_max, options.credit_bytes_max};
  out.window.messages = options.window_messages;
  out.queues_max = options.queues_max;
  out.consumers_max = options.consumers_max;
  out.bindings_max = options.bindings_max;
  out.seed = options.seed;
  return out;
}

Options options_of(const Generator& generator, const Run& run) {
  Options options = generator.options();
  options.rules.durable = run.journal;
  return options;
}

class Driver {
 public:
  Driver(Run& run, Corners& corners)
      : run_(run),
        generator_(run.seed),
        options_(options_of(generator_, run)),
        shadow_(run.journal ? std::make_unique<Shadow>() : nullptr),
        engine_(engine_options(options_), shadow_ ? shadow_->records(recorder_) : recorder_, recorder_),
        corners_(corners),
        model_(options_, corners),
        invariants_(generator_, options_) {
    if (shadow_) shadow_->begin(engine_, now_);
    engine_.open_session(SessionId{kAdmin}, "");
  }

  void run() {
    for (run_.step = 1; run_.step <= run_.steps; ++run_.step) {
      const Command command = generator_.next(model_);
      note([&] { return shown(command); });
      carry_out(command);
      if (generator_.turn_ends()) finish_turn();
    }
    finish_turn();
    model_.set_now(now_);
    compare_whole();
  }

 private:
  template <class Text>
  void note(Text text) {
    if (!run_.trace) return;
    run_.last.push_back("step " + std::to_string(run_.step) + " at " +
                        std::to_string(now_.steady_ms - kStart.steady_ms) + " ms  " + text());
    if (run_.last.size() > kTraceMax) run_.last.pop_front();
  }

  void carry_out(const Command& command) {
    now_.since_ms += generator_.lag_ms();
    model_.set_now(now_);
    std::visit([&](const auto& action) { apply(command.session, action); }, command.action);
    invariants_.after(command, recorder_.told, recorder_.entered, now_);
    recorder_.entered.clear();
  }

  void apply(std::uint64_t session, const Open& open) {
    const std::uint64_t engine_last = engine_.open_session(SessionId{session}, open.producer);
    const std::uint64_t model_last = model_.open_session(session, open.producer);
    if (engine_last != model_last)
      throw Mismatch("producer_sequence: engine " + std::to_string(engine_last) + ", model " +
                     std::to_string(model_last));
  }
  void apply(std::uint64_t session, const Close&) {
    engine_.close_session(SessionId{session}, now_);
    model_.close_session(session);
  }
  void apply(std::uint64_t, const Drain&) {
    engine_.pause_deliveries();
    model_.drain();
  }
  void apply(std::uint64_t session, const BadPublish& bad) {
    engine_.refuse_publish(SessionId{session}, bad.first_sequence, bad.count,
                           wire::error_body(ErrorCode::bad_field, "no"));
    model_.refuse_publish(session, bad.first_sequence, bad.count, static_cast<std::uint64_t>(ErrorCode::bad_field));
  }
  void apply(std::uint64_t session, const wire::Publish& frame) {
    engine_.apply(SessionId{session}, frame, now_);
    model_.publish(session, frame);
  }
  void apply(std::uint64_t session, const wire::Consume& frame) {
    engine_.apply(SessionId{session}, frame);
    model_.consume(session, frame);
  }
  void apply(std::uint64_t session, const wire::Cancel& frame) {
    engine_.apply(SessionId{session}, frame);
    model_.cancel(session, frame);
  }
  void apply(std::uint64_t session, const wire::Settle& frame) {
    engine_.apply(SessionId{session}, frame, now_);
    model_.settle(session, frame);
  }
  void apply(std::uint64_t session, const wire::Request& frame) {
    engine_.apply(SessionId{session}, frame, now_);
    model_.request(session, frame);
  }

  void finish_turn() {
    now_.since_ms += generator_.lag_ms();
    model_.set_now(now_);
    if (engine_.finish_turn(now_)) throw Mismatch("so few things are due, and the engine wants another turn at once");
    if (shadow_) shadow_->end_turn(now_);
    Told told = std::exchange(recorder_.told, {});
    const std::vector<Entered> entered = std::exchange(recorder_.entered, {});
    model_.finish_turn(told.handed);
    const std::string differs = difference(told, std::exchange(model_.told, {}));
    if (!differs.empty()) throw Mismatch(differs);
    invariants_.after_turn(told, entered, now_);
    check_wake_up();
    if (++turns_ % run_.whole_every == 0) compare_whole();
    go_on(generator_.pause_ms(model_, now_.steady_ms));
  }

  // The next turn begins no earlier than the last one's moment, which may lie within the millisecond before its number.
  void go_on(std::uint64_t pause_ms) {
    const std::uint64_t moment_ms = now_.moment_ms();
    const std::uint64_t passed_ms = std::max(pause_ms, now_.since_ms - std::min<std::uint64_t>(now_.since_ms, 1));
    now_.steady_ms += passed_ms;
    now_.since_ms = moment_ms > now_.steady_ms ? moment_ms - now_.steady_ms : 0;
    const std::int64_t step_ms = generator_.wall_step_ms();
    if (step_ms < 0) corners_.hit(Corner::clock_stepped_back);
    if (step_ms != 0) clock_set_ = true;
    now_.wall_ms += passed_ms + static_cast<std::uint64_t>(step_ms);
    if (passed_ms != 0) note([&] { return "-- turn ends, " + std::to_string(passed_ms) + " ms"; });
    if (step_ms != 0) note([&] { return "-- the wall clock is set by " + std::to_string(step_ms) + " ms"; });
    if (shadow_) shadow_->begin_turn(now_);
  }

  // The server sleeps until next_due_ms(): nothing may be due before.
  void check_wake_up() {
    const std::vector<std::uint64_t> timers = model_.timers();
    if (timers.empty()) return;
    const std::uint64_t first = *std::min_element(timers.begin(), timers.end());
    const std::optional<std::uint64_t> next = engine_.next_due_ms();
    if (!next || *next > first)
      throw Mismatch("something is due at " + std::to_string(first) + ", the engine wakes up " +
                     (next ? "at " + std::to_string(*next) : "never"));
  }

  wire::Map ask(std::string verb, wire::Map arguments) {
    wire::Request request;
    request.verb = std::move(verb);
    request.arguments = std::move(arguments);
    engine_.apply(SessionId{kAdmin}, request, now_);
    const Told told = std::exchange(recorder_.told, {});
    if (told.replies.size() != 1 || told.replies[0].code != 0) throw Mismatch(request.verb + " was refused");
    return told.replies[0].result;
  }

  static void compare(const std::string& what, const wire::Value& engine, const wire::Value& model) {
    if (same(engine, model)) return;
    const auto* ours = engine.get_if<wire::Array>();
    const auto* theirs = model.get_if<wire::Array>();
    if (ours != nullptr && theirs != nullptr && ours->size() == theirs->size())
      for (std::size_t i = 0; i < ours->size(); ++i) compare(what, (*ours)[i], (*theirs)[i]);
    throw Mismatch(what + "\n  engine: " + shown(engine) + "\n  model:  " + shown(model));
  }

  // Everything that can be seen by requests.
  void compare_whole() {
    if (shadow_) shadow_->check(engine_, engine_options(options_), Generator::producers(), !clock_set_, now_);
    if (shadow_) corners_.hit(Corner::recovered);
    if (shadow_ && shadow_->parts_released() > 0) corners_.hit(Corner::compacted);
    wire::Array queues;
    for (const auto& [name, queue] : model_.queues()) queues.emplace_back(model_.describe(queue));
    const wire::Map listed = ask("queue.list", {});
    Invariants::check_conservation(*listed.find("queues")->get_if<wire::Array>());
    compare("queue.list", *listed.find("queues"), queues);
    for (const auto& [name, queue] : model_.queues()) {
      wire::Array messages;
      for (const Message& message : queue.messages) messages.emplace_back(model_.describe(queue, message));
      compare("queue.peek " + name,
              *ask("queue.peek", wire::Map().set("name", name).set("limit", 1000)).find("messages"), messages);
    }
    compare("consumer.list", *ask("consumer.list", {}).find("consumers"), model_.describe_consumers());
    compare("bind.list", *ask("bind.list", {}).find("bindings"), model_.describe_bindings());
    if (engine_.live_leases() != model_.leases().size()) throw Mismatch("numbers of live leases differ");
    const wire::Map totals = engine_.totals();
    for (const auto& [counter, value] : model_.totals()) {
      if (counter == "refused") continue;  // of the broker: those without a queue too
      compare("server.info " + counter, *totals.find("counters")->get_if<wire::Map>()->find(counter), value);
    }
  }

  Run& run_;
  engine::Now now_ = kStart;
  Generator generator_;
  Options options_;
  Recorder recorder_;
  std::unique_ptr<Shadow> shadow_;
  bool clock_set_ = false;
  engine::Engine engine_;
  Corners& corners_;
  Model model_;
  Invariants invariants_;
  std::uint64_t turns_ = 0;
};

}  // namespace

void drive(Run& run, Corners& corners) { Driver(run, corners).run(); }

}  // namespace sluice::model
