// Method: a workload runs on a simulated disk whose power goes at the n-th changing call, for every n until the workload gets through. What the disk
// keeps of unsynced sectors and names is drawn anew several times for each n. Afterwards the journal has to open, to hold a prefix of what was
// appended, and all of it that was promised; and the power goes again at the m-th call of that opening.

#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"

using namespace sluice;
using namespace sluice::journal;
using namespace sluice::journal::test;

namespace {

constexpr std::size_t kMax = kMixed;
constexpr std::uint64_t kRounds = 24;

struct Promised {
  std::uint64_t appended = 0;
  std::uint64_t durable = 0;   // as told
  std::uint64_t synced = 0;    // in modes other than always: what a sync covered
  std::uint64_t released = 0;  // the last sequence of what was given up
};

// Appends, releases what is old, and ends in order. Stops by itself when the disk does.
void work(SimDisk& disk, SyncMode mode, Promised& promised) {
  Replayed replayed;
  auto opened = open(disk, small(mode), replayed.sink());
  if (!opened) return;
  FileJournal& journal = **opened;
  promised.appended = promised.synced = raw(journal.last());
  for (std::uint64_t round = 1; round <= kRounds && !journal.failure(); ++round) {
    for (int i = 0; i < 3; ++i) append_turn(journal, kMax);
    promised.appended = raw(journal.last());
    const std::uint64_t syncs = disk.calls(Call::sync);
    const std::uint64_t before = raw(journal.durable());
    run(journal, round * 600);
    // A sync that went well covered at least what was written before this round.
    if (!journal.failure() && disk.calls(Call::sync) > syncs) promised.synced = std::max(promised.synced, before);
    // Two at a time: of two removals the disk may keep the second alone.
    for (int parts = 0; round % 8 == 0 && parts < 2 && journal.oldest_part() && !journal.failure(); ++parts) {
      promised.released = raw(journal.oldest_part()->last);
      journal.release_oldest_part();
    }
    run(journal, round * 600);
    promised.durable = raw(journal.durable());
  }
  journal.close();
  promised.durable = raw(journal.durable());
  if (!journal.failure()) promised.synced = promised.durable;
}

std::uint64_t at_least(SyncMode mode, const Promised& promised) {
  return mode == SyncMode::always ? promised.durable : promised.synced;
}

// The power goes at the first call of the opening, then at the second one of the next opening, ... until one gets through.
Replayed recover(SimDisk& disk, SyncMode mode) {
  for (std::uint64_t m = 1;; ++m) {
    disk.stop_after(m);
    Replayed replayed;
    {
      auto journal = open(disk, small(mode), replayed.sink());
      if (journal) (*journal)->close();
      if (!disk.stopped()) {
        INFO("opening: ", journal ? std::string() : journal.error().text);
        REQUIRE(journal);
        REQUIRE_FALSE((*journal)->failure());
        disk.do_not_stop();
        return replayed;
      }
    }
    disk.crash();
  }
}

// One life until the power goes at its n-th call (0: it does not), and what is found afterwards. True: it got through.
bool live(SimDisk& disk, SyncMode mode, std::uint64_t n, std::uint64_t& released, std::uint64_t& torn) {
  Promised promised;
  promised.released = released;
  if (n > 0) disk.stop_after(n);
  work(disk, mode, promised);
  const bool finished = !disk.stopped();
  released = promised.released;
  disk.crash();
  const auto found = scan(disk);
  REQUIRE(found);
  if (found->torn) ++torn;
  const Replayed replayed = recover(disk, mode);
  REQUIRE(replayed.last >= at_least(mode, promised));
  REQUIRE(replayed.last <= promised.appended);
  if (finished) REQUIRE(replayed.last == promised.appended);
  if (replayed.batches > 0) {
    REQUIRE(replayed.first <= released + 1);
    REQUIRE(are_turns(replayed, replayed.first, replayed.last, kMax));
  }
  return finished;
}

// The second life ends early: what the first one left on the disk must not get into what is read then. The third goes through.
void crash_everywhere(SyncMode mode, std::uint64_t seeds) {
  bool finished = false;
  std::uint64_t torn = 0;
  for (std::uint64_t n = 1; !finished; ++n) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      CAPTURE(n);
      CAPTURE(seed);
      SimDisk disk(seed * 1'000'003 + n);
      std::uint64_t released = 0;
      finished = live(disk, mode, n, released, torn);
      live(disk, mode, 3 + n % 11, released, torn);
      REQUIRE(live(disk, mode, 0, released, torn));
    }
  }
  CHECK(torn > 20);  // otherwise the crashes are too kind
}

}  // namespace

TEST_CASE("crash: nothing that was durable is lost, whatever of the rest the disk kept (always)") {
  crash_everywhere(SyncMode::always, 3);
}

TEST_CASE("crash: nothing that was synced is lost, and what is left is a prefix (interval)") {
  crash_everywhere(SyncMode::interval, 2);
}

TEST_CASE("crash: nothing that was synced is lost, and what is left is a prefix (os)") {
  crash_everywhere(SyncMode::os, 2);
}

TEST_CASE(
    "crash: a process that is killed loses nothing that was written, and what it left counts as safe only when "
    "synced") {
  SimDisk disk;
  auto journal = open(disk, small(SyncMode::os));
  REQUIRE(journal);
  append_turns(**journal, 3, kMax);
  // The process is gone, the system is not: the next one reads what is in the system's memory, says that it is safe, and then the power goes.
  disk.unlock();
  Replayed replayed;
  auto next = open(disk, small(SyncMode::always), replayed.sink());
  REQUIRE(next);
  CHECK(raw((*next)->durable()) == 3);
  disk.crash();
  Replayed again;
  REQUIRE(open(disk, small(), again.sink()));
  CHECK(again.last == 3);
}
