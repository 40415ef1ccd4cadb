// Fail operation n for n = 1, 2, 3, ... until the work succeeds.

#include <doctest/doctest.h>

#include <cerrno>

#include "harness.h"

using namespace sluice;
using namespace sluice::journal;
using namespace sluice::journal::test;

namespace {

constexpr std::size_t kMax = 9'000;
constexpr Call kChanging[] = {Call::open,   Call::write,  Call::sync,          Call::reserve,
                              Call::rename, Call::remove, Call::sync_directory};

// True: it met a failure.
bool work(FileJournal& journal, std::uint64_t* durable) {
  for (int round = 0; round < 12 && !journal.failure(); ++round) {
    for (int i = 0; i < 3; ++i) append_turn(journal, kMax);
    run(journal);
    *durable = raw(journal.durable());
    if (round % 4 == 3 && journal.oldest_part()) journal.release_oldest_part();
    run(journal);
  }
  return journal.failure().has_value();
}

// What can change anything: after a failure none of these may come.
std::uint64_t changing_calls(const SimDisk& disk) {
  std::uint64_t calls = 0;
  for (const Call call : kChanging)
    if (call != Call::open) calls += disk.calls(call);
  return calls;
}

void fail_nth(Call call, int number, bool for_ever, SyncMode mode) {
  for (std::uint64_t n = 1;; ++n) {
    SimDisk disk(n);
    auto journal = open(disk, small(mode));
    REQUIRE(journal);
    disk.fail(call, n, number, for_ever);
    std::uint64_t durable = 0;
    CAPTURE(static_cast<int>(call));
    CAPTURE(n);
    if (!work(**journal, &durable)) {
      CHECK(n > 1);
      return;
    }
    const std::string line = *(*journal)->failure();
    CHECK(line.find("Input/output error") != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
    // S19: it is over. Nothing rises, nothing is written, no sync is tried again, even when the disk is well again.
    disk.heal();
    const std::uint64_t told = raw((*journal)->durable());
    const std::uint64_t calls = changing_calls(disk);
    append_turn(**journal, kMax);
    run(**journal, 100'000);
    (*journal)->close();
    REQUIRE(raw((*journal)->durable()) == told);
    REQUIRE(changing_calls(disk) == calls);
    REQUIRE(*(*journal)->failure() == line);
    // What was told is there after a restart, with power lost in between in mode always.
    if (mode == SyncMode::always) disk.crash();
    Replayed replayed;
    REQUIRE(open(disk, small(mode), replayed.sink()));
    REQUIRE(replayed.last >= told);
    if (replayed.batches > 0) REQUIRE(are_turns(replayed, replayed.first, replayed.last, kMax));
  }
}

}  // namespace

TEST_CASE(
    "fault: S19: after the first failed call nothing becomes durable, nothing is written, and no sync is repeated") {
  for (const SyncMode mode : {SyncMode::always, SyncMode::os}) {
    for (const Call call : kChanging) {
      fail_nth(call, EIO, false, mode);
      fail_nth(call, EIO, true, mode);
    }
  }
}

TEST_CASE("fault: a failed sync for want of room is a failure too") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  append_turns(**journal, 1, 100);
  disk.fail(Call::sync, 1, ENOSPC);
  append_turns(**journal, 1, 100);
  REQUIRE((*journal)->failure());
  CHECK(raw((*journal)->durable()) == 1);
}

TEST_CASE("fault: any call of an opening can fail: one line, nothing lost, and the next opening works") {
  SimDisk disk;
  {
    auto journal = open(disk);
    REQUIRE(journal);
    append_turns(**journal, 30, kMax);
    append_turn(**journal, kMax);
    REQUIRE((*journal)->writer().write(0));
  }
  disk.crash();
  const SimDisk::Image image = disk.image();
  for (const Call call : {Call::list, Call::lock, Call::open, Call::read, Call::size, Call::write, Call::sync,
                          Call::reserve, Call::clear, Call::rename, Call::remove, Call::sync_directory}) {
    for (std::uint64_t n = 1;; ++n) {
      disk.load(image);
      disk.fail(call, n, EIO);
      auto journal = open(disk);
      disk.heal();
      if (journal) break;
      CHECK(journal.error().text.find("Input/output error") != std::string::npos);
      Replayed replayed;
      auto again = open(disk, small(), replayed.sink());
      REQUIRE(again);
      REQUIRE(replayed.last >= 30);
      REQUIRE(are_turns(replayed, 1, replayed.last, kMax));
    }
  }
}

TEST_CASE("fault: C17: on a full disk what is reserved is used, has_room tells, and it recovers by itself") {
  for (const int number : {ENOSPC, EDQUOT}) {
    SimDisk disk;
    auto journal = open(disk);
    REQUIRE(journal);
    CHECK((*journal)->has_room());
    disk.fail(Call::reserve, 1, number, true);
    std::uint64_t now_ms = 0;
    while ((*journal)->has_room()) {
      append_turn(**journal, kMax);
      run(**journal, now_ms);
      REQUIRE(raw((*journal)->last()) < 100);
    }
    const auto at_full = raw((*journal)->last());
    // The segment in use is there for what frees room.
    for (int i = 0; i < 3; ++i) append_turn(**journal, kMax);
    run(**journal, now_ms);
    CHECK(raw((*journal)->durable()) == at_full + 3);
    // More than that waits, and is not told to be safe; nothing fails, no file is left over.
    for (int i = 0; i < 40; ++i) append_turn(**journal, kMax);
    run(**journal, now_ms);
    CHECK(raw((*journal)->durable()) < raw((*journal)->last()));
    CHECK((*journal)->pending_bytes() > 0);
    const auto reserves = disk.calls(Call::reserve);
    for (; now_ms < 3'500; now_ms += 100) run(**journal, now_ms);
    CHECK(disk.calls(Call::reserve) - reserves == 3);  // once a second
    REQUIRE_FALSE((*journal)->failure());
    const auto names = disk.list();
    REQUIRE(names);
    for (const std::string& name : *names) CHECK_FALSE(is_new_segment_name(name));
    disk.heal();
    run(**journal, now_ms + 1'000);
    CHECK((*journal)->has_room());
    CHECK((*journal)->durable() == (*journal)->last());
    disk.crash();
    Replayed replayed;
    REQUIRE(open(disk, small(), replayed.sink()));
    CHECK(are_turns(replayed, 1, at_full + 43, kMax));
  }
}

TEST_CASE(
    "fault: C17: a part that is released makes room at once, also when not even the last batch of a segment could be "
    "written") {
  SimDisk disk;
  disk.set_capacity(4 * kSmallBytes);
  auto journal = open(disk);
  REQUIRE(journal);
  // As far as it goes.
  for (int i = 0; i < 60; ++i) append_turn(**journal, kMax);
  run(**journal, 10);
  CHECK_FALSE((*journal)->has_room());
  const auto stuck = raw((*journal)->durable());
  CHECK(stuck < 60);
  for (int part = 0; part < 20 && (*journal)->durable() < (*journal)->last(); ++part) {
    REQUIRE((*journal)->oldest_part());
    (*journal)->release_oldest_part();
    run(**journal, 10);  // no second has gone by
    REQUIRE_FALSE((*journal)->failure());
    CHECK(raw((*journal)->durable()) > stuck);
    CHECK(disk.used_bytes() <= 4 * kSmallBytes);
  }
  CHECK((*journal)->durable() == (*journal)->last());
  (*journal)->release_oldest_part();
  run(**journal, 10);
  CHECK((*journal)->has_room());
  (*journal)->close();
  disk.crash();
  Replayed replayed;
  REQUIRE(open(disk, small(), replayed.sink()));
  CHECK(are_turns(replayed, replayed.first, 60, kMax));
}

TEST_CASE("fault: a journal with a spare segment opens on a full disk, and one without says so") {
  SimDisk disk;
  { REQUIRE(open(disk)); }
  disk.crash();
  disk.set_capacity(2 * kSmallBytes);
  auto journal = open(disk);
  REQUIRE(journal);
  CHECK((*journal)->has_room());  // the one prepared before
  append_turns(**journal, 5, 100);
  CHECK(raw((*journal)->durable()) == 5);

  SimDisk empty;
  empty.set_capacity(1'000);
  auto none = open(empty);
  REQUIRE_FALSE(none);
  CHECK(none.error().text.find("No space left on device") != std::string::npos);
  empty.set_capacity(10 * kSmallBytes);
  CHECK(open(empty));
}

TEST_CASE("fault: close says when something could not be written") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  disk.fail(Call::reserve, 1, ENOSPC, true);
  for (int i = 0; i < 60; ++i) append_turn(**journal, kMax);
  (*journal)->close();
  REQUIRE((*journal)->failure());
  CHECK((*journal)->failure()->find("disk is full") != std::string::npos);
  CHECK((*journal)->durable() < (*journal)->last());
}

TEST_CASE("fault: a read that fails is a failure") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  const Appended at = append_turn(**journal, kMax);
  run(**journal);
  disk.fail(Call::read, 1, EIO);
  (*journal)->fetch(1, at.base, 1);
  run(**journal);
  REQUIRE((*journal)->failure());
  CHECK_FALSE((*journal)->take());
}
