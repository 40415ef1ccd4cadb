#pragma once
// clients/cpp/liveness.h: whether the broker lives, and when we have to say that we do.
//
// Threads  one (the I/O thread).
// Source   spec/protocol.md section 6.

#include "clock.h"

namespace sluice::internal {

class Liveness {
 public:
  void start(TimePoint now, Clock::duration interval) {
    interval_ = interval;
    last_turn_ = last_received_ = last_sent_ = now;
    allowed_ = Clock::duration::zero();
  }
  void received(TimePoint now) { last_received_ = now; }
  void sent(TimePoint now) { last_sent_ = now; }

  // Once a turn. Time in which this process did not run does not count against the broker: what the turn before took
  // beyond the sleep that it planned is taken off.
  void turn(TimePoint now) {
    const Clock::duration overrun = now - last_turn_ - allowed_;
    if (overrun > kOverrunIgnored) last_received_ += overrun;
    last_turn_ = now;
    allowed_ = Clock::duration::zero();
  }
  void will_sleep(Clock::duration planned) { allowed_ = planned; }

  bool lost(TimePoint now) const { return now - last_received_ >= kMissedMax * interval_; }
  bool must_send(TimePoint now) const { return now - last_sent_ >= interval_; }
  // When to look again.
  TimePoint next() const {
    const TimePoint lost_at = last_received_ + kMissedMax * interval_;
    const TimePoint send_at = last_sent_ + interval_;
    return lost_at < send_at ? lost_at : send_at;
  }

 private:
  static constexpr int kMissedMax = 3;
  static constexpr Clock::duration kOverrunIgnored = std::chrono::milliseconds(50);

  Clock::duration interval_{};
  TimePoint last_turn_{};
  TimePoint last_received_{};
  TimePoint last_sent_{};
  Clock::duration allowed_{};
};

}  // namespace sluice::internal
