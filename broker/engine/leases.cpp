#include "engine/leases.h"

#include <algorithm>

#include "base/mutant.h"

namespace sluice::engine {
namespace {

constexpr std::uint64_t kEarlyMs = 70;  // of a mutant: what nobody takes for the way of a message

}  // namespace

Lease& Leases::open(Message& message, Consumer& consumer, const Now& now, std::uint64_t lease_ms) {
  Lease& lease = table_.open();
  lease.message = &message;
  lease.consumer = &consumer;
  lease.ends_latest_ms = now.moment_ms() + std::max(kLeaseTotalMsMax, lease_ms);
  lease.held_prev = consumer.newest;
  lease.held_next = nullptr;
  if (consumer.newest != nullptr) {
    consumer.newest->held_next = &lease;
  } else {
    consumer.oldest = &lease;
  }
  consumer.newest = &lease;
  message.lease = &lease;
  wheel_.set(lease, now.moment_ms() + (mutant("lease_off_by_one") ? lease_ms - kEarlyMs : lease_ms));
  return lease;
}

Lease* Leases::find(LeaseId id, SessionId session) {
  Lease* const lease = table_.find(id);
  return lease != nullptr && lease->consumer->session == session ? lease : nullptr;
}

bool Leases::extend(Lease& lease, const Now& now, std::uint64_t lease_ms) {
  const std::uint64_t ends_ms = now.moment_ms() + lease_ms;
  if (ends_ms > lease.ends_latest_ms) return false;
  wheel_.cancel(lease);
  wheel_.set(lease, ends_ms);
  return true;
}

void Leases::told(LeaseId first_untold, std::uint64_t late_ms) {
  if (late_ms > 0) {
    for (std::uint64_t id = first_untold_; id < raw(first_untold); ++id) {
      Lease* const lease = table_.find(LeaseId{id});
      if (lease == nullptr) continue;
      lease->ends_latest_ms += late_ms;
      wheel_.cancel(*lease);
      wheel_.set(*lease, lease->when_ms + late_ms);
    }
  }
  first_untold_ = raw(first_untold);
}

Message& Leases::close(Lease& lease) {
  Message& message = *lease.message;
  Consumer& consumer = *lease.consumer;
  wheel_.cancel(lease);
  (lease.held_prev != nullptr ? lease.held_prev->held_next : consumer.oldest) = lease.held_next;
  (lease.held_next != nullptr ? lease.held_next->held_prev : consumer.newest) = lease.held_prev;
  consumer.held -= 1;
  message.lease = nullptr;
  table_.close(lease);
  return message;
}

}  // namespace sluice::engine
