#pragma once
// base/mutant.h: deliberate faults, by name. A simulator that does not find each of them would not find one that nobody made.
//
// Without -DSLUICE_MUTANTS=ON every mutant() is the constant false, and nothing of it is left in the program.
// Errors   a name that is not in the list does not compile.
// Threads  chosen before any other starts.

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {

inline constexpr std::array<std::string_view, 16> kMutants = {
    "confirm_before_sync",   "skip_sync",
    "skip_directory_sync",   "record_lost_at_rotation",
    "lease_off_by_one",      "credit_lost",
    "attempts_not_recorded", "torn_tail_not_cut",
    "ack_not_recorded",      "dead_letter_in_two_records",
    "dedup_not_restored",    "resend_enqueued_twice",
    "old_place_lost",        "stale_settle_accepted",
    "compaction_drops_live", "lease_ids_restart",
};

struct MutantName {
  std::string_view name;
  // NOLINTNEXTLINE(google-explicit-constructor): mutant("name") is all that a place should have to say
  consteval MutantName(const char* text) : name(text) {
    if (std::ranges::find(kMutants, name) == kMutants.end()) throw "no such mutant";
  }
};

#ifdef SLUICE_MUTANTS
inline std::string_view chosen_mutant;
inline bool mutant(MutantName wanted) { return wanted.name == chosen_mutant; }
#else
constexpr bool mutant(MutantName) { return false; }
#endif

}  // namespace sluice
