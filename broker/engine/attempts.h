#pragma once
// engine/attempts.h: an attempt to handle a message ended; what becomes of the message.
//
// Threads  one.
// Source   spec/semantics.md "Counters", "Limit", "Backoff".

#include <optional>
#include <string_view>

#include "engine/dead_letters.h"
#include "engine/leases.h"
#include "engine/messages.h"
#include "engine/random.h"

namespace sluice::engine {

inline constexpr std::size_t kReasonBytesMax = 1'024;

class Attempts {
 public:
  Attempts(Leases& leases, Messages& messages, DeadLetters& dead_letters, std::uint64_t seed)
      : leases_(leases), messages_(messages), dead_letters_(dead_letters), random_(seed) {}

  // Each closes the lease.
  void acked(Lease& lease);
  void released(Lease& lease, const Now& now);
  void rejected(Lease& lease, std::string_view reason, const Now& now);
  void nacked(Lease& lease, std::string_view reason, std::optional<std::uint64_t> delay_ms, const Now& now);
  void expired(Lease& lease, const Now& now);
  void holder_gone(Lease& lease, const Now& now);

 private:
  // Judges the limit; otherwise the message waits.
  void failed(Message& message, Cause cause, const Now& now, std::optional<std::uint64_t> delay_ms);

  Leases& leases_;
  Messages& messages_;
  DeadLetters& dead_letters_;
  Random random_;
};

}  // namespace sluice::engine
