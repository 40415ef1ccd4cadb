#pragma once
// engine/lease_table.h: live leases by number.
//
// Shapes   numbers rise strictly and are never reused, so the table is pages of consecutive numbers; a page goes when
//          its last lease ends. A lease that stays live keeps one page (2 KiB) alive.
// Threads  one.
// Owns     the leases.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/ids.h"
#include "engine/timer_wheel.h"

namespace sluice::engine {

struct Message;
struct Consumer;

// One delivery that is not settled. Timed on the lease wheel until when_ms.
struct Lease : TimerNode {
  Lease* held_prev = nullptr;  // the consumer's leases, oldest first
  Lease* held_next = nullptr;
  Message* message = nullptr;
  Consumer* consumer = nullptr;
  LeaseId id{};
  std::uint64_t ends_latest_ms = 0;  // steady; no extension goes beyond
};

class LeaseTable {
 public:
  LeaseTable() = default;
  LeaseTable(const LeaseTable&) = delete;
  LeaseTable& operator=(const LeaseTable&) = delete;
  ~LeaseTable();

  // The next number. The lease is in no list yet.
  Lease& open();
  // The number that open() will give next.
  LeaseId next_id() const { return LeaseId{next_}; }
  // nullptr when it is not live.
  Lease* find(LeaseId id);
  // REQUIRES: the lease is in no list any more.
  void close(Lease& lease);
  std::uint64_t live() const { return live_; }
  // For recovery: no number below it is given again.
  void begin_at(std::uint64_t next) { next_ = next; }

 private:
  static constexpr std::uint64_t kPageLeases = 256;
  static constexpr std::size_t kSpareMax = 4'096;

  struct Page {
    std::array<Lease*, kPageLeases> leases{};
    std::uint32_t live = 0;
  };

  Page* page_of(std::uint64_t number);

  absl::flat_hash_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t recent_number_ = ~std::uint64_t{0};  // page found last; settlements come in runs
  Page* recent_ = nullptr;
  std::vector<Lease*> spare_;
  std::uint64_t next_ = 1;
  std::uint64_t live_ = 0;
};

}  // namespace sluice::engine
