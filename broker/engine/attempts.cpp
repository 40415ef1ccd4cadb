#include "engine/attempts.h"

#include <utility>

namespace sluice::engine {
namespace {

// At most kReasonBytesMax, cut between two characters.
std::string_view cut(std::string_view reason) {
  if (reason.size() <= kReasonBytesMax) return reason;
  std::size_t end = kReasonBytesMax;
  while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xc0U) == 0x80U) --end;
  return reason.substr(0, end);
}

}  // namespace

void Attempts::acked(Lease& lease) { messages_.end(leases_.close(lease), Ended::acked); }

void Attempts::released(Lease& lease, const Now& now) {
  Message& message = leases_.close(lease);
  ++message.extra().releases;
  ++message.queue->counters.released;
  if (Messages::is_expired(message, now)) return dead_letters_.expire(message, Cause::release, now);
  messages_.release(message, Cause::release, now);
}

void Attempts::rejected(Lease& lease, std::string_view reason, const Now& now) {
  Message& message = leases_.close(lease);
  ++message.queue->counters.rejected;
  message.extra().error = cut(reason);
  if (message.queue->dead_letters) {  // never dead-letters again: as a nack, it waits
    ++message.extra().nacks;
    message.suspect = false;
    return failed(message, Cause::reject, now, std::nullopt);
  }
  dead_letters_.bury(message, DeadReason::rejected, Cause::reject, now);
}

void Attempts::nacked(Lease& lease, std::string_view reason, std::optional<std::uint64_t> delay_ms, const Now& now) {
  Message& message = leases_.close(lease);
  ++message.queue->counters.nacked;
  ++message.extra().nacks;
  message.extra().error = cut(reason);
  message.suspect = false;  // somebody has looked at it and lives
  failed(message, Cause::nack, now, delay_ms);
}

void Attempts::expired(Lease& lease, const Now& now) {
  Message& message = leases_.close(lease);
  ++message.queue->counters.expired_leases;
  ++message.extra().expiries;
  message.suspect = false;
  failed(message, Cause::expiry, now, std::nullopt);
}

// Back at once the first time: that a process died is seldom the message's doing, and others can take it. From then on it is a
// suspect, handed out alone; when that holder vanishes as well it waits like any message that failed.
void Attempts::holder_gone(Lease& lease, const Now& now) {
  Message& message = leases_.close(lease);
  ++message.queue->counters.returned_by_disconnect;
  ++message.extra().disconnects;
  const bool again = std::exchange(message.suspect, true);
  failed(message, Cause::disconnect, now, again ? std::nullopt : std::optional<std::uint64_t>(0));
}

void Attempts::failed(Message& message, Cause cause, const Now& now, std::optional<std::uint64_t> delay_ms) {
  const Queue& queue = *message.queue;
  if (!queue.dead_letters && message.attempts() >= queue.policy.max_attempts)
    return dead_letters_.bury(message, DeadReason::attempts, cause, now);
  if (Messages::is_expired(message, now)) return dead_letters_.expire(message, cause, now);
  messages_.delay(message, cause, now, delay_ms ? *delay_ms : backoff_ms(queue.policy, message.attempts(), random_));
}

}  // namespace sluice::engine
