#pragma once
// clients/cpp/settle_buffer.h: settlements and credit of one consumer that wait for the next SETTLE frame.
//
// Shapes   in: one lease or range at a time. out: as few ranges as keep the order.
// Threads  one at a time (the consumer's mutex).

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/codec.h"

namespace sluice::internal {

// The settlements and grants of a SETTLE, with the texts that its views point to.
struct SettleBatch {
  wire::Settle settle;
  std::deque<std::string> reasons;
};

class SettleBuffer {
 public:
  // Joined with the one before if that has the same verb, the lease before, and neither has options.
  void add(const wire::Settlement& settlement);
  void grant(std::uint64_t messages, std::uint64_t bytes);

  bool empty() const { return settlements_.empty() && grant_messages_ == 0 && grant_bytes_ == 0; }
  // Leases that wait.
  std::uint64_t lease_count() const { return lease_count_; }
  std::uint64_t granted_messages() const { return grant_messages_; }
  const std::vector<wire::Settlement>& settlements() const { return settlements_; }

  // Appends everything to `out` and is empty afterwards.
  void move_to(SettleBatch& out, std::uint64_t consumer);
  void forget_grants();
  void clear();

 private:
  std::vector<wire::Settlement> settlements_;
  std::deque<std::string> reasons_;  // a deque: the views into it stay
  std::uint64_t lease_count_ = 0;
  std::uint64_t grant_messages_ = 0;
  std::uint64_t grant_bytes_ = 0;
};

}  // namespace sluice::internal
