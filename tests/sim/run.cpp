#include "run.h"

#include <memory>
#include <vector>

#include "broker.h"
#include "consumer.h"
#include "faults.h"
#include "hostile.h"
#include "inspector.h"
#include "operator.h"
#include "producer.h"

namespace sluice::sim {
namespace {

// By then all delays, backoffs, leases and waits that a seed can draw are over.
constexpr std::uint64_t kCalmMaxUs = 60 * kSecond;
constexpr std::uint64_t kSetupMaxUs = 10 * kSecond;

class Run {
 public:
  explicit Run(const Settings& settings, bool with_trace)
      : settings_(settings),
        world_(settings.seed, with_trace),
        network_(world_, settings.network),
        oracle_(world_),
        stage_{world_, network_, oracle_, settings_},
        broker_(world_, network_, oracle_, settings_),
        operator_(stage_, "operator", 10),
        inspector_(stage_, "inspector", 11),
        random_(world_.stream(4)) {
    network_.observe(oracle_);
  }

  void go() {
    if (!broker_.start()) world_.fail("S17", "an empty directory is refused");
    operator_.start();
    world_.after(kMs, [this] { when_declared(); });
    while (!over_) turn();
  }

  Outcome outcome() const {
    Outcome outcome;
    outcome.hash = world_.trace.hash();
    outcome.operations = world_.operations;
    outcome.simulated_us = world_.now_us() - 1'000 * kSecond;
    outcome.reached = world_.reached;
    outcome.trace = world_.trace.lines();
    return outcome;
  }

 private:
  void turn() {
    if (!broker_.runs()) return world_.run_next();
    using Next = server::Server::Next;
    try {
      const Next next = broker_.turn();
      if (next == Next::stop) drained();
      if (next == Next::failed) failed();
    } catch (const Interrupt&) {
      if (!over_) die(faults_->death());
    }
  }

  // S19: it stops when its journal fails, and only then.
  void failed() {
    const bool drain_gave_up = broker_.failure().starts_with("the disk of the journal did not end in time");
    if (!broker_.failure_expected() && !drain_gave_up)
      world_.fail("S19", "the journal failed without a reason: " + broker_.failure());
    world_.hit(Mark::journal_failed);
    const bool power = broker_.disk().stopped() || random_.chance(50);
    die(power ? Death::power_cut : Death::killed);
  }

  void die(Death death) {
    if (broker_.disk().stopped()) death = Death::power_cut;  // it went before, and a stalled broker did not notice
    world_.tell(death == Death::killed ? "the broker is killed" : "the power goes");
    world_.trace.mix(static_cast<std::uint64_t>(death));
    broker_.die(death);
    network_.broker_died(death == Death::killed || random_.chance(50));
    stage_.excused_us = kNever;
    world_.after(random_.between(kMs, 2 * kSecond), [this] { start_again(); });
  }

  void start_again() {
    if (!stage_.calm && settings_.on(Mark::power_cut_in_recovery) && random_.chance(60)) {
      broker_.expect_failure();
      broker_.disk().stop_after(random_.between(1, 12));
    }
    if (!broker_.start()) {
      world_.hit(Mark::power_cut_in_recovery);
      return die(Death::power_cut);
    }
    stage_.excused_us = world_.now_us() + 2 * kSecond;
    if (drain_by_us_ != kNever) calm();  // it drained, or died while it did
  }

  void when_declared() {
    if (operator_.ready()) return begin();
    if (world_.now_us() > 1'000 * kSecond + kSetupMaxUs) world_.fail("L3", "queues cannot be declared");
    world_.after(kMs, [this] { when_declared(); });
  }

  void begin() {
    inspector_.start();
    std::vector<Client*> victims;
    const auto add = [&](std::unique_ptr<Client> client) {
      client->start();
      victims.push_back(client.get());
      clients_.push_back(std::move(client));
    };
    for (std::uint64_t i = 0; i < settings_.producers; ++i)
      add(std::make_unique<Producer>(stage_, "p" + std::to_string(i), 100 + i, i % 3 != 2));
    for (std::uint64_t i = 0; i < settings_.consumers; ++i)
      add(std::make_unique<Worker>(stage_, "w" + std::to_string(i), 200 + i));
    if (settings_.on(Mark::hostile_frames)) add(std::make_unique<Hostile>(stage_, "hostile", 300));
    faults_ = std::make_unique<Faults>(stage_, broker_, victims);
    faults_->begin();
    world_.after(settings_.chaos_us, [this] { settings_.drains ? drain() : calm(); });
  }

  // L9: it ends by its deadline.
  void drain() {
    faults_->end();
    if (!broker_.runs()) return world_.after(100 * kMs, [this] { drain(); });
    drain_by_us_ = world_.now_us() + settings_.server.drain_timeout_ms * kMs;
    stage_.excused_us = kNever;
    world_.tell("drain");
    oracle_.draining();
    broker_.stop();
    check_drain();
  }
  void check_drain() {
    if (over_ || stage_.calm) return;
    if (world_.now_us() > drain_by_us_ + 75 * kSecond) world_.fail("L9", "the broker drains and does not end");
    world_.after(kSecond, [this] { check_drain(); });
  }
  // S23: all that was confirmed is safe, so the power may go now.
  void drained() {
    world_.hit(world_.now_us() >= drain_by_us_ ? Mark::drain_at_deadline : Mark::drained_in_order);
    if (!settings_.journal) {
      over_ = true;
      return;
    }
    drained_ = true;
    broker_.close();
    die(Death::power_cut);
  }

  void calm() {
    world_.tell("calm");
    stage_.calm = true;
    faults_->end();
    operator_.resume_all();
    inspector_.begin_draining();
    calm_by_us_ = world_.now_us() + kCalmMaxUs;
    check_calm();
  }
  void check_calm() {
    const Client* const busy = busy_client();
    if (busy != nullptr) inspector_.look_again();
    if (inspector_.done()) {
      oracle_.finish();
      world_.hit(Mark::queue_drained);
      over_ = true;
      return network_.interrupt();
    }
    if (world_.now_us() > calm_by_us_) {
      if (busy != nullptr)
        world_.fail("L11", busy->name() + (busy->open() ? " waits for answers" : " is not connected"));
      if (!inspector_.left().empty()) world_.fail("L1", "not drained:" + inspector_.left());
      world_.fail("L3", "not answered: " + oracle_.unanswered());
    }
    world_.after(100 * kMs, [this] { check_calm(); });
  }
  const Client* busy_client() const {
    for (const auto& client : clients_)
      if (!client->idle()) return client.get();
    return operator_.open() ? nullptr : &operator_;
  }

  const Settings& settings_;
  World world_;
  Network network_;
  Oracle oracle_;
  Stage stage_;
  BrokerUnderTest broker_;
  Operator operator_;
  Inspector inspector_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::unique_ptr<Faults> faults_;
  std::uint64_t calm_by_us_ = kNever;
  std::uint64_t drain_by_us_ = kNever;
  Random random_;
  bool drained_ = false;
  bool over_ = false;
};

}  // namespace

Outcome run(const Settings& settings, bool with_trace) {
  Run run(settings, with_trace);
  std::string violation;
  try {
    run.go();
  } catch (const Violation& found) {
    violation = found.what();
  }
  Outcome outcome = run.outcome();
  outcome.violation = violation;
  return outcome;
}

}  // namespace sluice::sim
