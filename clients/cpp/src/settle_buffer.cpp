#include "settle_buffer.h"

namespace sluice::internal {
namespace {

bool has_options(const wire::Settlement& settlement) {
  return !settlement.reason.empty() || settlement.delay_ms || settlement.lease_ms;
}

bool joins(const wire::Settlement& before, const wire::Settlement& next) {
  return before.verb == next.verb && before.last_lease + 1 == next.first_lease && !has_options(before) &&
         !has_options(next) && next.last_lease - before.first_lease < wire::kSettleLeasesMax;
}

}  // namespace

void SettleBuffer::add(const wire::Settlement& settlement) {
  lease_count_ += settlement.last_lease - settlement.first_lease + 1;
  if (!settlements_.empty() && joins(settlements_.back(), settlement)) {
    settlements_.back().last_lease = settlement.last_lease;
    return;
  }
  settlements_.push_back(settlement);
  if (settlement.reason.empty()) return;
  settlements_.back().reason = reasons_.emplace_back(settlement.reason);
}

void SettleBuffer::grant(std::uint64_t messages, std::uint64_t bytes) {
  grant_messages_ += messages;
  grant_bytes_ += bytes;
}

void SettleBuffer::move_to(SettleBatch& out, std::uint64_t consumer) {
  for (wire::Settlement& settlement : settlements_) {
    if (!settlement.reason.empty()) settlement.reason = out.reasons.emplace_back(settlement.reason);
    out.settle.settlements.push_back(settlement);
  }
  if (grant_messages_ != 0 || grant_bytes_ != 0) out.settle.grants.push_back({consumer, grant_messages_, grant_bytes_});
  clear();
}

void SettleBuffer::forget_grants() {
  grant_messages_ = 0;
  grant_bytes_ = 0;
}

void SettleBuffer::clear() {
  settlements_.clear();
  reasons_.clear();
  lease_count_ = 0;
  grant_messages_ = 0;
  grant_bytes_ = 0;
}

}  // namespace sluice::internal
