#include "engine/lease_table.h"

#include <doctest/doctest.h>

#include <vector>

namespace sluice::engine {
namespace {

TEST_CASE("lease table: numbers rise by one and are not reused") {
  LeaseTable table;
  std::uint64_t last = 0;
  for (int i = 0; i < 2'000; ++i) {
    CHECK(raw(table.next_id()) == last + 1);
    Lease& lease = table.open();
    CHECK(raw(lease.id) == last + 1);
    last = raw(lease.id);
    table.close(lease);
  }
  CHECK(table.live() == 0);
}

TEST_CASE("lease table: finds what is live, over all pages, and nothing else") {
  LeaseTable table;
  std::vector<Lease*> leases;
  for (int i = 0; i < 5'000; ++i) leases.push_back(&table.open());
  for (std::size_t i = 0; i < leases.size(); i += 2) table.close(*leases[i]);
  for (std::uint64_t number = 1; number <= 5'000; ++number) {
    const bool live = number % 2 == 0;
    CHECK(table.find(LeaseId{number}) == (live ? leases[number - 1] : nullptr));
  }
  CHECK(table.find(LeaseId{0}) == nullptr);
  CHECK(table.find(LeaseId{5'001}) == nullptr);
  CHECK(table.find(LeaseId{~std::uint64_t{0}}) == nullptr);
  CHECK(table.live() == 2'500);
}

}  // namespace
}  // namespace sluice::engine
