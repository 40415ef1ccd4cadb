#pragma once
// engine/settler.h: SETTLE frames: settlements by lease, then grants of credit.
//
// Errors   in SETTLED: stale, lease_cap. In ERROR: unknown_consumer, bad_credit.
// Threads  one.
// Source   spec/protocol.md section 9.

#include <cstdint>

#include "engine/attempts.h"
#include "engine/dispatcher.h"
#include "engine/effects.h"
#include "engine/leases.h"
#include "engine/now.h"
#include "engine/peer.h"

namespace sluice::engine {

struct CreditLimits {
  std::uint64_t messages_max = 65'535;
  std::uint64_t bytes_max = 1ULL << 30;
};

class Settler {
 public:
  Settler(const CreditLimits& limits, Leases& leases, Attempts& attempts, Dispatcher& dispatcher, Effects& effects)
      : limits_(limits), leases_(leases), attempts_(attempts), dispatcher_(dispatcher), effects_(effects) {}

  void settle(Peer& peer, const wire::Settle& frame, const Now& now);

  const CreditLimits& limits() const { return limits_; }
  std::uint64_t stale() const { return stale_; }

 private:
  void settle_range(Peer& peer, const wire::Settlement& settlement, const Now& now, wire::Settled& answer);
  bool settle_one(Lease& lease, const wire::Settlement& settlement, const Now& now);
  void grant(Peer& peer, const wire::Grant& grant);

  CreditLimits limits_;
  Leases& leases_;
  Attempts& attempts_;
  Dispatcher& dispatcher_;
  Effects& effects_;
  std::uint64_t stale_ = 0;
};

}  // namespace sluice::engine
