#include "consumer_core.h"

#include <algorithm>
#include <utility>

#include "convert.h"
#include "errors.h"

namespace sluice::internal {
namespace {

constexpr std::uint64_t kFlushLeasesMax = 256;
// Below it two halves of the prefetch under way gain nothing over one whole: a round trip costs more than to handle them.
constexpr std::uint64_t kFlushLeasesMin = 32;

}  // namespace

ConsumerCore::ConsumerCore(std::uint64_t number, std::string_view queue, const ConsumeOptions& options,
                           Milliseconds close_timeout, std::shared_ptr<Wake> wake, std::shared_ptr<Callbacks> callbacks)
    : number_(number),
      queue_(queue),
      options_(options),
      close_timeout_(close_timeout),
      flush_leases_(std::clamp<std::uint64_t>(
          options.prefetch / 2, std::min<std::uint64_t>(options.prefetch, kFlushLeasesMin), kFlushLeasesMax)),
      wake_(std::move(wake)),
      callbacks_(std::move(callbacks)) {}

// The handler's thread holds a reference, so it has ended or is this one.
ConsumerCore::~ConsumerCore() {
  if (thread_.joinable()) thread_.detach();
}

void ConsumerCore::wait_declared(Milliseconds timeout) {
  Lock lock(mutex_);
  const bool in_time =
      changed_.wait_for(lock, timeout, [this] { return phase_ == Phase::active || phase_ == Phase::ended; });
  if (failure_) throw *failure_;
  if (!in_time) {
    closing_ = true;
    has_phase_work_ = true;
    wake_->notify();
    throw make_local_error(kErrorTimeout,
                           "the consumer was not accepted within " + std::to_string(timeout.count()) + " ms");
  }
  if (phase_ == Phase::ended) throw make_local_error(kErrorClosed, "the client was closed");
}

// --- Taking.

std::optional<Delivery> ConsumerCore::receive(std::optional<Milliseconds> timeout) {
  const bool forever = !timeout || *timeout > std::chrono::hours(24 * 365);
  std::optional<TimePoint> deadline;
  Lock lock(mutex_);
  for (;;) {
    if (auto delivery = take()) return delivery;
    if (failure_) throw *failure_;
    if (closing_ || phase_ == Phase::ended) return std::nullopt;
    if (has_unflushed_) give(flush_soon(true));
    if (!forever && !deadline) deadline = Clock::now() + *timeout;
    ++receivers_waiting_;
    const bool in_time =
        forever ? (changed_.wait(lock), true) : changed_.wait_until(lock, *deadline) == std::cv_status::no_timeout;
    --receivers_waiting_;
    if (!in_time && frames_.empty()) return std::nullopt;
  }
}

std::optional<Delivery> ConsumerCore::take() {
  while (!frames_.empty()) {
    DeliveredFrame& frame = *frames_.front();
    const std::size_t index = frame.next++;
    const bool last = frame.next == frame.content.deliveries.size();
    const wire::Delivery& content = frame.content.deliveries[index];
    --buffered_;
    const bool lost = !frame.lost.empty() && frame.lost[index];
    if (lost || coarse_now() >= frame.lease_end.load(std::memory_order_relaxed)) {
      // Somebody else may have it by now: it must not be started here.
      if (!frame.settled.empty()) frame.settled[index] = true;
      return_credit(bytes_of(content));
      give(flush_soon(false));
      if (last) frames_.pop_front();
      continue;
    }
    ++held_;
    held_bytes_ += bytes_of(content);
    std::optional<Delivery> delivery(std::in_place);
    delivery->payload_ = content.payload;
    delivery->headers_ = content.headers;
    delivery->dead_ = content.dead;
    delivery->id_ = content.id;
    delivery->lease_ = frame.lease(index);
    delivery->count_ = content.count;
    delivery->attempts_ = content.attempts;
    delivery->priority_ = content.priority;
    if (last) {
      delivery->frame_ = std::move(frames_.front());
      frames_.pop_front();
    } else {
      delivery->frame_ = frames_.front();
    }
    return delivery;
  }
  return std::nullopt;
}

// --- What the broker says.

ConsumerCore::Step ConsumerCore::next_step(bool connected) {
  if (!has_phase_work_) return Step::none;
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::undeclared && !closing_) return connected ? Step::declare : Step::none;
  has_phase_work_ = false;
  if (!closing_ || phase_ == Phase::cancelling || phase_ == Phase::ended) return Step::none;
  if (connected && phase_ != Phase::undeclared) return Step::cancel;
  enter_ended();  // the broker does not know it
  return Step::none;
}

wire::Consume ConsumerCore::declare(std::uint64_t request) {
  const std::lock_guard lock(mutex_);
  has_phase_work_ = closing_;
  phase_ = Phase::declaring;
  const std::uint64_t messages = options_.prefetch - std::min<std::uint64_t>(held_, options_.prefetch);
  const std::uint64_t bytes = options_.prefetch_bytes - std::min(held_bytes_, options_.prefetch_bytes);
  bytes_owed_ = held_bytes_ - std::min(held_bytes_, options_.prefetch_bytes);
  return {request, number_, queue_, messages, bytes, options_.topic, to_wire(options_.policy)};
}

wire::Cancel ConsumerCore::cancel(std::uint64_t request) {
  const std::lock_guard lock(mutex_);
  phase_ = Phase::cancelling;
  settle_.forget_grants();  // they would come behind the CANCEL, for a consumer that is not there any more
  return {request, number_};
}

void ConsumerCore::declared() {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::declaring) return;
  phase_ = Phase::active;
  changed_.notify_all();
}

void ConsumerCore::end(std::optional<ClientError> error) {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::ended) return;
  if (!closing_) failure_ = std::move(error);
  drop_buffered();
  enter_ended();
}

bool ConsumerCore::is_gone() const {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::ended && held_ == 0 && settle_.empty();
}

void ConsumerCore::connection_lost() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  drop_buffered();
  for (const wire::Settlement& settlement : settle_.settlements()) {
    if (settlement.verb == wire::Verb::extend) continue;
    report_stale(settlement.first_lease, settlement.last_lease,
                 make_error(ErrorCode::stale, "the connection was lost before the settlement was sent"));
  }
  settle_.clear();
  recent_.clear();
  flush_due_ = false;
  has_unflushed_ = false;
  if (phase_ == Phase::cancelling) enter_ended();
  if (phase_ != Phase::ended) phase_ = Phase::undeclared;
  has_phase_work_ = true;
  changed_.notify_all();
}

void ConsumerCore::deliver(std::shared_ptr<DeliveredFrame> frame) {
  const std::size_t count = frame->content.deliveries.size();
  const TimePoint now = Clock::now();
  Lock lock(mutex_);
  if (phase_ == Phase::ended || count == 0) return;
  frame->generation = generation_;
  frame->lease_end = now + frame->lease_time();
  if (closing_ || phase_ == Phase::cancelling) {
    release_rest(*frame);
    return;
  }
  frame->consumer = shared_from_this();
  if (options_.extend_up_to != Milliseconds(0)) {
    frame->settled.resize(count);
    frame->extend_until = now + options_.extend_up_to;
    extending_.push_back(frame);
  }
  buffered_ += count;
  frames_.push_back(std::move(frame));
  const bool waited_for = receivers_waiting_ != 0;
  lock.unlock();
  if (!waited_for) return;
  if (count == 1) {
    changed_.notify_one();
  } else {
    changed_.notify_all();
  }
}

void ConsumerCore::lease_lost(const wire::LeaseLost& lost) {
  const ClientError why = make_error(lost.code);
  const std::lock_guard lock(mutex_);
  for (const wire::LeaseRange& range : lost.ranges) {
    for (const std::shared_ptr<DeliveredFrame>& frame : frames_) {
      const std::uint64_t first = std::max(range.first, frame->lease(frame->next));
      const std::uint64_t last = std::min(range.last, frame->last_lease());
      if (first > last) continue;
      frame->lost.resize(frame->content.deliveries.size());
      for (std::uint64_t lease = first; lease <= last; ++lease) frame->lost[lease - frame->content.first_lease] = true;
    }
    report_stale(range.first, range.last, why);
  }
}

bool ConsumerCore::settle_exception(const wire::SettleException& exception) {
  const std::lock_guard lock(mutex_);
  const auto overlaps = [&](const wire::LeaseRange& range) {
    return range.first <= exception.last_lease && exception.first_lease <= range.last;
  };
  if (std::ranges::none_of(recent_, overlaps)) return false;
  report_stale(exception.first_lease, exception.last_lease, make_error(exception.code));
  return true;
}

void ConsumerCore::on_stale(Consumer::StaleCallback callback) {
  const std::lock_guard lock(mutex_);
  on_stale_ = std::move(callback);
}

void ConsumerCore::report_stale(std::uint64_t first, std::uint64_t last, const ClientError& why) {
  if (!on_stale_) return;
  callbacks_->post([call = on_stale_, first, last, why] { call(first, last, why); });
}

std::optional<ClientError> ConsumerCore::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

// --- Closing.

void ConsumerCore::drop_buffered() {
  frames_.clear();
  buffered_ = 0;
}

void ConsumerCore::enter_ended() {
  phase_ = Phase::ended;
  has_ended_ = true;
  changed_.notify_all();
}

void ConsumerCore::release_rest(DeliveredFrame& frame) {
  for (std::size_t i = frame.next; i < frame.content.deliveries.size(); ++i) {
    if (!frame.lost.empty() && frame.lost[i]) continue;
    settle_.add({wire::Verb::release, frame.lease(i), frame.lease(i), {}, std::nullopt, std::nullopt});
    if (!frame.settled.empty()) frame.settled[i] = true;
  }
  frame.next = frame.content.deliveries.size();
  give(flush_soon(true));
}

void ConsumerCore::close() { close(Clock::now() + close_timeout_); }

void ConsumerCore::close(TimePoint deadline) {
  Lock lock(mutex_);
  if (!closing_) {
    closing_ = true;
    for (const std::shared_ptr<DeliveredFrame>& frame : frames_) release_rest(*frame);
    drop_buffered();
    has_phase_work_ = true;
    changed_.notify_all();
    wake_->notify();
  }
  changed_.wait_until(lock, deadline, [this] { return phase_ == Phase::ended; });
}

void ConsumerCore::wait_handler(std::optional<TimePoint> deadline) {
  if (callbacks_->inside()) return;
  Lock lock(mutex_);
  const auto finished = [this] { return handler_finished_; };
  if (!deadline) {
    changed_.wait(lock, finished);
  } else if (!changed_.wait_until(lock, *deadline, finished)) {
    return;
  }
  std::thread thread = std::move(thread_);
  lock.unlock();
  if (thread.joinable()) thread.join();
}

// --- The handler's thread.

void ConsumerCore::start_handler(Consumer::Handler handler) {
  const std::lock_guard lock(mutex_);
  handler_finished_ = false;
  thread_ = std::thread(
      [self = shared_from_this(), own = std::move(handler)]() mutable { self->run_handler(std::move(own)); });
}

void ConsumerCore::run_handler(Consumer::Handler given) {
  {
    const Callbacks::Scope scope(*callbacks_);
    const Consumer::Handler handler = std::move(given);  // let go inside the scope: it may hold the consumer
    try {
      while (auto delivery = receive(std::nullopt)) handle(handler, *delivery);
    } catch (const ClientError&) {
      // The consumer failed; failure() keeps why.
    }
  }
  const std::lock_guard lock(mutex_);
  handler_finished_ = true;
  changed_.notify_all();
}

void ConsumerCore::handle(const Consumer::Handler& handler, Delivery& delivery) {
  std::string failed;
  try {
    handler(delivery);
    if (!delivery.settled()) delivery.ack();
    return;
  } catch (const std::exception& exception) {
    failed = exception.what();
  } catch (...) {
    failed = "the handler threw something that is no std::exception";
  }
  if (!delivery.settled()) delivery.nack(failed);
}

}  // namespace sluice::internal
