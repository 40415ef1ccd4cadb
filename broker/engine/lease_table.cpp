#include "engine/lease_table.h"

#include "base/check.h"

namespace sluice::engine {

LeaseTable::~LeaseTable() {
  for (auto& [number, page] : pages_)
    for (Lease* lease : page->leases) delete lease;
  for (Lease* lease : spare_) delete lease;
}

Lease& LeaseTable::open() {
  const std::uint64_t number = next_ / kPageLeases;
  Page* page = page_of(number);
  if (page == nullptr) {
    page = pages_.emplace(number, std::make_unique<Page>()).first->second.get();
    recent_number_ = number;
    recent_ = page;
  }
  Lease* lease = nullptr;
  if (spare_.empty()) {
    lease = new Lease();
  } else {
    lease = spare_.back();
    spare_.pop_back();
  }
  lease->id = LeaseId{next_};
  page->leases[next_ % kPageLeases] = lease;
  ++page->live;
  ++next_;
  ++live_;
  return *lease;
}

Lease* LeaseTable::find(LeaseId id) {
  Page* const page = page_of(raw(id) / kPageLeases);
  return page == nullptr ? nullptr : page->leases[raw(id) % kPageLeases];
}

void LeaseTable::close(Lease& lease) {
  const std::uint64_t id = raw(lease.id);
  const std::uint64_t number = id / kPageLeases;
  Page* const page = page_of(number);
  SLUICE_CHECK(page != nullptr && page->leases[id % kPageLeases] == &lease);
  page->leases[id % kPageLeases] = nullptr;
  --live_;
  if (--page->live == 0) {
    pages_.erase(number);
    recent_ = nullptr;
    recent_number_ = ~std::uint64_t{0};
  }
  if (spare_.size() < kSpareMax) {
    lease = Lease();
    spare_.push_back(&lease);
  } else {
    delete &lease;
  }
}

LeaseTable::Page* LeaseTable::page_of(std::uint64_t number) {
  if (number == recent_number_) return recent_;
  const auto found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  recent_number_ = number;
  recent_ = found->second.get();
  return recent_;
}

}  // namespace sluice::engine
