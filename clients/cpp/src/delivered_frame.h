#pragma once
// clients/cpp/delivered_frame.h: one DELIVER, shared by its deliveries.
//
// Threads  `content` does not change and is read by any thread; the rest belongs to the consumer's mutex, except lease_end.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "clock.h"
#include "message.h"
#include "wire/frames.h"

namespace sluice::internal {

class ConsumerCore;

struct DeliveredFrame {
  Message bytes;
  wire::Deliver content;  // views into bytes
  std::shared_ptr<ConsumerCore> consumer;

  std::uint64_t generation = 0;  // the consumer's connection that it came by
  std::size_t next = 0;          // the first delivery that nobody took yet
  std::vector<bool> lost;        // told by LEASE_LOST; empty: none
  std::vector<bool> settled;     // only kept for consumers that extend; empty otherwise
  TimePoint extend_until{};
  std::atomic<TimePoint> lease_end{TimePoint{}};

  std::uint64_t lease(std::size_t index) const { return content.first_lease + index; }
  std::uint64_t last_lease() const { return content.first_lease + content.deliveries.size() - 1; }
  Clock::duration lease_time() const { return std::chrono::milliseconds(content.lease_ms); }
};

inline std::size_t bytes_of(const wire::Delivery& delivery) {
  return delivery.payload.size() + delivery.headers.size();
}

}  // namespace sluice::internal
