// clients/cpp/consumer_settle.cpp: the consumer core's half that settles, extends and gives credit back.

#include <algorithm>
#include <utility>

#include "consumer_core.h"
#include "errors.h"

namespace sluice::internal {
namespace {

constexpr Milliseconds kFlushAfter{1};
constexpr std::size_t kRecentRangesMax = 1024;

}  // namespace

void ConsumerCore::settle(Delivery& delivery, const wire::Settlement& settlement) {
  // Let go after the lock: it may hold the last reference to this.
  const std::shared_ptr<DeliveredFrame> frame = std::move(delivery.frame_);
  const std::size_t bytes = delivery.payload_.size() + delivery.headers_.size();
  Lock lock(mutex_);
  --held_;
  held_bytes_ -= bytes;
  return_credit(bytes);
  if (!frame->settled.empty()) frame->settled[delivery.lease_ - frame->content.first_lease] = true;
  if (frame->generation != generation_) {
    report_stale(delivery.lease_, delivery.lease_,
                 make_error(ErrorCode::stale, "the connection that brought the delivery was lost"));
    if (!settle_.empty()) give(flush_soon(false));
    return;
  }
  settle_.add(settlement);
  const Notice notice = flush_soon(settlement.verb != wire::Verb::ack);
  lock.unlock();
  give(notice);
}

void ConsumerCore::extend(Delivery& delivery, std::optional<Milliseconds> lease) {
  const std::lock_guard lock(mutex_);
  if (delivery.frame_->generation != generation_) {
    report_stale(delivery.lease_, delivery.lease_,
                 make_error(ErrorCode::stale, "the connection that brought the delivery was lost"));
    return;
  }
  wire::Settlement settlement{wire::Verb::extend, delivery.lease_, delivery.lease_, {}, std::nullopt, std::nullopt};
  if (lease) settlement.lease_ms = static_cast<std::uint64_t>(lease->count());
  delivery.extended_until_ = Clock::now() + (lease ? Clock::duration(*lease) : delivery.frame_->lease_time());
  settle_.add(settlement);
  give(flush_soon(true));
}

Milliseconds ConsumerCore::lease_left(const Delivery& delivery) {
  const TimePoint end = delivery.extended_until_ != TimePoint{}
                            ? delivery.extended_until_
                            : delivery.frame_->lease_end.load(std::memory_order_relaxed);
  return std::chrono::floor<Milliseconds>(end - Clock::now());
}

void ConsumerCore::return_credit(std::size_t bytes) {
  if (closing_ || (phase_ != Phase::declaring && phase_ != Phase::active)) return;
  const std::uint64_t owed = std::min<std::uint64_t>(bytes, bytes_owed_);
  bytes_owed_ -= owed;
  settle_.grant(1, bytes - owed);
}

ConsumerCore::Notice ConsumerCore::flush_soon(bool at_once) {
  if (flush_due_) return Notice::none;
  const std::uint64_t collected = std::max(settle_.lease_count(), settle_.granted_messages());
  if (at_once || buffered_ == 0 || collected >= flush_leases_) {
    flush_due_ = true;
    has_unflushed_ = true;
    return Notice::now;
  }
  if (has_unflushed_) return Notice::none;
  first_unflushed_ = Clock::now();
  has_unflushed_ = true;
  return Notice::in_time;
}

void ConsumerCore::give(Notice notice) {
  if (notice == Notice::now) wake_->notify();
  if (notice == Notice::in_time) wake_->notify_before(Clock::now() + kFlushAfter);
}

void ConsumerCore::collect(TimePoint now, bool everything, SettleBatch& out, TimePoint& wake_at) {
  if (!has_unflushed_ && options_.extend_up_to == Milliseconds(0)) return;
  const std::lock_guard lock(mutex_);
  if (options_.extend_up_to != Milliseconds(0)) extend_due(now, wake_at);
  if (!has_unflushed_) return;
  if (!everything && !flush_due_ && now < first_unflushed_ + kFlushAfter) {
    wake_at = std::min(wake_at, first_unflushed_ + kFlushAfter);
    return;
  }
  for (const wire::Settlement& settlement : settle_.settlements()) {
    recent_.push_back({settlement.first_lease, settlement.last_lease});
    if (recent_.size() > kRecentRangesMax) recent_.pop_front();
  }
  settle_.move_to(out, number_);
  flush_due_ = false;
  has_unflushed_ = false;
}

// --- Extending.

void ConsumerCore::extend_due(TimePoint now, TimePoint& wake_at) {
  std::erase_if(extending_, [&](const std::weak_ptr<DeliveredFrame>& weak) {
    const std::shared_ptr<DeliveredFrame> frame = weak.lock();
    if (frame == nullptr || frame->generation != generation_) return true;
    const auto due = [&] { return frame->lease_end.load() - frame->lease_time() / 3; };
    if (now >= due() && !extend_frame(*frame, now)) return true;
    wake_at = std::min(wake_at, due());
    return false;
  });
}

// False when there is nothing to extend any more.
bool ConsumerCore::extend_frame(DeliveredFrame& frame, TimePoint now) {
  const TimePoint end = std::min(now + frame.lease_time(), frame.extend_until);
  const auto lease_ms = std::chrono::floor<Milliseconds>(end - now).count();
  if (end <= frame.lease_end.load() || lease_ms < static_cast<Milliseconds::rep>(wire::kLeaseMsMin)) return false;
  wire::Settlement settlement{wire::Verb::extend, 0, 0, {}, std::nullopt, static_cast<std::uint64_t>(lease_ms)};
  bool any = false;
  const auto is_open = [&](std::size_t i) { return !frame.settled[i] && (frame.lost.empty() || !frame.lost[i]); };
  for (std::size_t i = 0; i < frame.settled.size(); ++i) {
    if (!is_open(i)) continue;
    settlement.first_lease = frame.lease(i);
    while (i + 1 < frame.settled.size() && is_open(i + 1)) ++i;
    settlement.last_lease = frame.lease(i);
    settle_.add(settlement);
    any = true;
  }
  if (!any) return false;
  frame.lease_end = end;
  flush_due_ = true;
  has_unflushed_ = true;
  return true;
}

}  // namespace sluice::internal
