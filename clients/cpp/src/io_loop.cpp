#include "io_loop.h"

#include <algorithm>
#include <utility>

#include "errors.h"
#include "random.h"
#include "wire/codec.h"

namespace sluice::internal {
namespace {

constexpr const char* kAgent = "sluice-cpp/0.1.0";
constexpr Milliseconds kLingerMax{1'000};
// The transport tells that a connection closed before it hands over the last frames that came in by it: a reply, or BYE.
constexpr Milliseconds kLastWords{3};
// While deliveries and settlements flow, the thread looks again this soon by itself: then the first ack need not wake it only to
// say that there will be more in a millisecond.
constexpr Milliseconds kConsumeLinger{1};
// A session that lived this long was a good one: the delays between tries begin anew.
constexpr std::chrono::seconds kGoodSession{5};

std::minstd_rand::result_type random_seed() {
  const std::string bytes = random_bytes(sizeof(std::minstd_rand::result_type));
  std::minstd_rand::result_type seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

}  // namespace

IoLoop::IoLoop(std::string url, const ClientOptions& options, Parts parts)
    : url_(std::move(url)),
      options_(options),
      parts_(std::move(parts)),
      producer_(random_bytes(16)),
      random_(random_seed()),
      delay_(options.reconnect_delay_min) {}

void IoLoop::run() {
  connection_.emplace();
  without_broker_since_ = next_try_ = Clock::now();
  while (!stopping_ && phase_ != Phase::ended) turn();
  if (phase_ == Phase::open) say_goodbye();
  connection_->end();
}

void IoLoop::turn() {
  const TimePoint now = Clock::now();
  wake_at_ = now + std::chrono::hours(1);
  if (phase_ == Phase::waiting && now >= next_try_) begin_try(now);
  if (connection_->is_open()) {
    receive();
    if (connection_->is_open()) watch_connection(now);
  }
  if (phase_ == Phase::ended) return;
  step_consumers();
  if (phase_ == Phase::open && !last_words_of_) send_all(now);
  if (lost_) lose(*std::exchange(lost_, std::nullopt));
  if (!connection_->is_open() || connection_->drained()) sleep(now);
}

void IoLoop::sleep(TimePoint now) {
  if (phase_ == Phase::waiting) wake_at_ = std::min(wake_at_, next_try_);
  if (phase_ == Phase::greeting) wake_at_ = std::min(wake_at_, greeting_ends_);
  if (phase_ == Phase::open) wake_at_ = std::min(wake_at_, liveness_.next());
  if (std::exchange(consumed_lately_, false)) wake_at_ = std::min(wake_at_, now + kConsumeLinger);
  if (!parts_.wake->prepare_sleep(wake_at_)) return;
  liveness_.will_sleep(wake_at_ - now);
  parts_.wake->woke(connection_->poll(parts_.wake->fd(), wake_at_));
}

// --- The connection.

void IoLoop::begin_try(TimePoint now) {
  if (had_session_) tell_state(ConnectionState::reconnecting, "");
  try {
    connection_->open(url_, options_.connect_timeout);
  } catch (const ClientError& error) {
    fail(error);
    return;
  }
  phase_ = Phase::greeting;
  greeting_ends_ = now + options_.connect_timeout;
  wire::Hello hello;
  hello.client = options_.name;
  hello.agent = kAgent;
  hello.producer = producer_;
  hello.heartbeat_ms = static_cast<std::uint64_t>(options_.heartbeat.count());
  send(hello);
}

void IoLoop::watch_connection(TimePoint now) {
  if (!last_words_of_) {
    last_words_of_ = connection_->failure();
    last_words_until_ = now + kLastWords;
  }
  if (last_words_of_) {
    wake_at_ = std::min(wake_at_, last_words_until_);
    if (now < last_words_until_) return;
    while (connection_->is_open() && receive()) {
    }
    if (!lost_) lost_ = *last_words_of_;
  }
  if (phase_ == Phase::greeting && now >= greeting_ends_) lost_ = "the broker did not answer HELLO";
  if (phase_ == Phase::open) {
    liveness_.turn(now);
    if (liveness_.lost(now)) lost_ = "nothing was heard from the broker for three heartbeats";
    if (!lost_ && liveness_.must_send(now)) send(wire::Heartbeat{});
  }
  if (lost_) lose(*std::exchange(lost_, std::nullopt));
}

// The session, or the try, is over; there will be another.
void IoLoop::lose(const std::string& why) {
  if (phase_ == Phase::waiting || phase_ == Phase::ended) return;
  const TimePoint now = Clock::now();
  const bool was_open = phase_ == Phase::open;
  phase_ = Phase::waiting;
  connection_->close(Milliseconds(0));
  last_words_of_.reset();
  {
    const std::lock_guard lock(mutex_);
    last_failure_ = why;
  }
  if (was_open) {
    without_broker_since_ = now;
    if (now - opened_at_ >= kGoodSession) delay_ = options_.reconnect_delay_min;
    parts_.publisher.session_lost();
    for (const auto& consumer : parts_.consumers.snapshot()) consumer->connection_lost();
    parts_.requests.connection_lost();
    tell_state(ConnectionState::disconnected, why);
  }
  if (options_.reconnect_give_up && had_session_ && now - without_broker_since_ >= *options_.reconnect_give_up) {
    fail(make_local_error(kErrorNotConnected, "no broker at " + url_ + " for " +
                                                  std::to_string(options_.reconnect_give_up->count()) + " ms: " + why));
    return;
  }
  std::uniform_real_distribution<double> jitter(0.75, 1.25);
  next_try_ = now + std::chrono::duration_cast<Clock::duration>(delay_ * jitter(random_));
  delay_ = std::min(delay_ * 2, options_.reconnect_delay_max);
}

void IoLoop::fail(const ClientError& error) {
  phase_ = Phase::ended;
  connection_->close(Milliseconds(0));
  parts_.publisher.fail_all(error);
  for (const auto& consumer : parts_.consumers.snapshot()) {
    consumer->connection_lost();
    consumer->end(error);
  }
  parts_.requests.fail_all(error);
  tell_state(ConnectionState::closed, error.what());
  const std::lock_guard lock(mutex_);
  failure_ = error;
  changed_.notify_all();
}

void IoLoop::tell_state(ConnectionState state, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (on_state_) parts_.callbacks->post([call = on_state_, state, why] { (*call)(state, why); });
}

void IoLoop::tell_closed() {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
  }
  tell_state(ConnectionState::closed, "");
}

void IoLoop::on_state(Client::StateCallback callback) {
  const std::lock_guard lock(mutex_);
  on_state_ = callback ? std::make_shared<Client::StateCallback>(std::move(callback)) : nullptr;
}

void IoLoop::wait_first(Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const bool in_time = changed_.wait_for(lock, timeout, [this] { return first_session_ || failure_; });
  if (failure_) throw *failure_;
  if (in_time) return;
  throw make_local_error(
      kErrorNotConnected,
      "no broker at " + url_ + (last_failure_.empty() ? ": it does not answer" : ": " + last_failure_));
}

void IoLoop::stop(TimePoint deadline) {
  stop_deadline_ = deadline;
  stopping_ = true;
  parts_.wake->notify();
}

void IoLoop::say_goodbye() {
  const TimePoint now = Clock::now();
  while (receive()) {
  }
  if (phase_ != Phase::open) return;
  send_settlements(now, true);
  send(wire::Bye{});
  const auto left = std::chrono::duration_cast<Milliseconds>(stop_deadline_.load() - now);
  connection_->close(std::clamp(left, Milliseconds(0), kLingerMax));
  phase_ = Phase::ended;
}

// --- Sending.

void IoLoop::send(const wire::ClientFrame& frame) {
  wire::Buffer bytes;
  wire::encode(frame, bytes);
  send_frame(bytes);
}

template <class Frame>
void IoLoop::send_frame(const Frame& frame) {
  if (connection_->send(frame)) {
    liveness_.sent(Clock::now());
  } else if (!lost_) {
    lost_ = "the connection takes no more frames";
  }
}

void IoLoop::step_consumers() {
  bool ended = false;
  for (const auto& consumer : parts_.consumers.snapshot()) {
    switch (consumer->next_step(phase_ == Phase::open)) {
      case ConsumerCore::Step::none:
        break;
      case ConsumerCore::Step::declare:
        send(consumer->declare(parts_.requests.add([consumer](Requests::Outcome outcome) {
          if (outcome) {
            consumer->declared();
          } else if (outcome.error().code() != kErrorConnectionLost) {
            consumer->end(outcome.error());
          }
        })));
        break;
      case ConsumerCore::Step::cancel:
        // Whatever the answer is: the broker has no such consumer any more.
        send(consumer->cancel(parts_.requests.add([consumer](Requests::Outcome) { consumer->end(std::nullopt); })));
        break;
    }
    ended = ended || consumer->has_ended();
  }
  if (ended) parts_.consumers.remove_gone();
}

void IoLoop::send_all(TimePoint now) {
  while (!lost_) {
    const auto frame = parts_.publisher.next_frame();
    if (frame == nullptr) break;
    send_frame(frame);
    if (!lost_) parts_.publisher.sent();
  }
  send_settlements(now, false);
  while (!lost_) {
    const auto frame = parts_.requests.next_frame();
    if (!frame) break;
    send_frame(*frame);
  }
}

void IoLoop::send_settlements(TimePoint now, bool everything) {
  SettleBatch batch;
  for (const auto& consumer : parts_.consumers.snapshot()) consumer->collect(now, everything, batch, wake_at_);
  if (batch.settle.settlements.empty() && batch.settle.grants.empty()) return;
  consumed_lately_ = true;
  send_settle(std::move(batch));
}

// In as many frames as the limits ask for; the grants come last.
void IoLoop::send_settle(SettleBatch batch) {
  constexpr std::size_t kSettlementsMax = 8'192;
  wire::Settle frame;
  std::uint64_t leases = 0;
  for (const wire::Settlement& settlement : batch.settle.settlements) {
    const std::uint64_t count = settlement.last_lease - settlement.first_lease + 1;
    if (leases + count > wire::kSettleLeasesMax || frame.settlements.size() == kSettlementsMax) {
      send(std::exchange(frame, {}));
      leases = 0;
    }
    frame.settlements.push_back(settlement);
    leases += count;
  }
  frame.grants = std::move(batch.settle.grants);
  send(std::move(frame));
}

}  // namespace sluice::internal
