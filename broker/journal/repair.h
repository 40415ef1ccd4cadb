#pragma once
// journal/repair.h: cuts a damaged journal where the damage is. Only when an operator asks for it: what goes may have been confirmed.
//
// Place    `sluice journal repair` -> [repair] -> scan, Disk.
// Source   spec/journal.md section 4.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "io/disk.h"
#include "journal/scan.h"

namespace sluice::journal {

struct RepairPlan {
  Damage damage;
  // Everything in `segment` from `offset` on becomes zeros. segment 0: nothing of the journal stays.
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint32_t> removed;  // segments behind it, whole
  // A segment before the first one is missing, and nothing is cut: the journal only stops asking for it.
  bool forgets_missing = false;

  std::uint64_t bytes = 0;  // that are not zeros, in what goes
  // Good batches with records in what goes.
  std::uint64_t batches = 0;
  std::uint64_t turns = 0;
  std::uint64_t first_sequence = 0;
  std::uint64_t last_sequence = 0;
  std::uint64_t kept_last_sequence = 0;
};

// What would go. `found` comes from scan() and has damage; foreign directories and newer formats are refused, with a line for people.
tl::expected<RepairPlan, std::string> plan_repair(io::Disk& disk, const ScanResult& found);

// Does it; each step is synced, and it can be done again after a crash. REQUIRES: the directory is locked, `found` and `plan` as of now.
io::IoResult<void> repair(io::Disk& disk, const ScanResult& found, const RepairPlan& plan);

}  // namespace sluice::journal
