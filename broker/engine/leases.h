#pragma once
// engine/leases.h: who holds which message until when.
//
// Units    ms on the steady scale.
// Threads  one.
// Owns     the live leases.
// Source   spec/semantics.md "Lease".

#include <optional>

#include "base/ids.h"
#include "engine/lease_table.h"
#include "engine/now.h"
#include "engine/queue.h"

namespace sluice::engine {

class Leases {
 public:
  LeaseId next_id() const { return table_.next_id(); }
  std::uint64_t live() const { return table_.live(); }
  void begin_at(std::uint64_t next_id) { table_.begin_at(next_id); }

  // Leases from `first_untold` on stand in frames that have not left yet: they do not run out. Those told since the last call are
  // longer by the time that they waited.
  void told(LeaseId first_untold, std::uint64_t late_ms);
  LeaseId first_untold() const { return LeaseId{first_untold_}; }
  void leave_untold(LeaseId first_untold) { first_untold_ = raw(first_untold); }

  Lease& open(Message& message, Consumer& consumer, const Now& now, std::uint64_t lease_ms);
  // The live lease of that number that the session holds, or nullptr.
  Lease* find(LeaseId id, SessionId session);
  // False, and nothing changes, when it would go beyond the lease's total cap.
  bool extend(Lease& lease, const Now& now, std::uint64_t lease_ms);
  // The message is still in state leased; what becomes of it is the caller's next step.
  Message& close(Lease& lease);

  // Calls expired(Lease&) for each lease that has ended, at most `limit`; true if there are more. The lease is still open and
  // still has to be closed.
  template <class Expired>
  bool expire(const Now& now, std::size_t limit, Expired&& expired) {
    return wheel_.advance(now.steady_ms, limit, [&](Lease& lease) {
      if (raw(lease.id) >= first_untold_) {
        wheel_.set(lease, now.moment_ms() + kUntoldRetryMs);
        return;
      }
      wheel_.set(lease, lease.when_ms);  // close() takes it off again
      expired(lease);
    });
  }
  std::optional<std::uint64_t> next_ms() { return wheel_.next_ms(); }

 private:
  static constexpr std::uint64_t kUntoldRetryMs = 100;

  LeaseTable table_;
  TimerWheel<Lease> wheel_;
  std::uint64_t first_untold_ = ~std::uint64_t{0};  // memory mode: all are told at once
};

}  // namespace sluice::engine
