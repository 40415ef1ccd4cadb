#include "journal/file_journal.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"

using namespace sluice;
using namespace sluice::journal;
using namespace sluice::journal::test;

namespace {

std::vector<std::byte> bytes_at(const SimDisk& disk, Location at, std::size_t count) {
  const auto& file = disk.contents(segment_name(segment_of(at)));
  const auto from = file.begin() + static_cast<std::ptrdiff_t>(offset_of(at));
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

void round_trip(SyncMode mode) {
  SimDisk disk;
  constexpr std::size_t kMax = 3'000;
  constexpr std::uint64_t kTurns = 400;
  {
    auto journal = open(disk, small(mode));
    REQUIRE(journal);
    for (std::uint64_t i = 1; i <= kTurns; ++i) {
      append_turn(**journal, kMax);
      if (i % 3 == 0) run(**journal);
    }
    (*journal)->close();
    REQUIRE_FALSE((*journal)->failure());
  }
  disk.crash();  // after an orderly end there is nothing to lose
  Replayed replayed;
  auto journal = open(disk, small(mode), replayed.sink());
  REQUIRE(journal);
  CHECK(are_turns(replayed, 1, kTurns, kMax));
  CHECK((*journal)->opening().segments > 5);
  CHECK((*journal)->opening().epoch == 2);
  CHECK_FALSE((*journal)->opening().cut);
  CHECK(raw((*journal)->last()) == kTurns);
  CHECK((*journal)->durable() == (*journal)->last());
  append_turns(**journal, 10, kMax);
  disk.crash();
  Replayed again;
  REQUIRE(open(disk, small(mode), again.sink()));
  CHECK(again.last >= (mode == SyncMode::always ? kTurns + 10 : kTurns));
  CHECK(are_turns(again, 1, again.last, kMax));
}

}  // namespace

TEST_CASE("file journal: what was appended over many segments is read again, in every mode") {
  round_trip(SyncMode::always);
  round_trip(SyncMode::interval);
  round_trip(SyncMode::os);
}

TEST_CASE("file journal: an append knows where its bytes will stand") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  constexpr std::size_t kMax = 20'000;
  std::vector<Appended> appended;
  for (int i = 0; i < 60; ++i) {
    appended.push_back(append_turn(**journal, kMax));
    if (i % 7 == 0) run(**journal);
  }
  run(**journal);
  for (const Appended& each : appended) {
    const auto turn = turn_bytes(raw(each.sequence), turn_size(raw(each.sequence), kMax));
    REQUIRE(bytes_at(disk, each.base, turn.size()) == turn);
  }
  CHECK(segment_of(appended.back().base) > 5);
}

TEST_CASE("file journal: a turn larger than a segment gets one of its own") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  append_turns(**journal, 2, 100);
  const auto large = turn_bytes(99, 3 * kSmallBytes);
  const Appended at = (*journal)->append(large);
  (*journal)->append(large);
  (*journal)->append(turn_bytes(1, 10));
  run(**journal);
  REQUIRE_FALSE((*journal)->failure());
  CHECK((*journal)->durable() == (*journal)->last());
  CHECK(bytes_at(disk, at.base, large.size()) == large);
  (*journal)->close();
  Replayed replayed;
  auto again = open(disk, small(), replayed.sink());
  REQUIRE(again);
  CHECK(replayed.last == 5);
  CHECK(replayed.bytes.size() >= 2 * large.size());
}

TEST_CASE("file journal: turns without bytes count") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  (*journal)->append({});
  (*journal)->append({});
  run(**journal);
  CHECK(raw((*journal)->durable()) == 2);
  disk.crash();
  Replayed replayed;
  REQUIRE(open(disk, small(), replayed.sink()));
  CHECK(replayed.last == 2);
}

TEST_CASE("file journal: durable means synced with always, written with interval and os") {
  for (const SyncMode mode : {SyncMode::always, SyncMode::interval, SyncMode::os}) {
    SimDisk disk;
    auto journal = open(disk, small(mode));
    REQUIRE(journal);
    append_turn(**journal, 100);
    CHECK(raw((*journal)->durable()) == 0);
    CHECK((*journal)->pending_bytes() > 0);
    REQUIRE((*journal)->writer().write(0));
    CHECK(raw((*journal)->durable()) == (mode == SyncMode::always ? 0 : 1));
    const auto syncs = disk.calls(Call::sync);
    CHECK((*journal)->writer().sync(999) == (mode == SyncMode::always));
    CHECK((*journal)->writer().sync(1'000) == (mode == SyncMode::interval));
    CHECK(disk.calls(Call::sync) == syncs + (mode == SyncMode::os ? 0 : 1));
    CHECK(raw((*journal)->durable()) == 1);
    CHECK((*journal)->pending_bytes() == 0);
    CHECK((*journal)->sync() == (mode == SyncMode::always ? "always" : mode == SyncMode::interval ? "interval" : "os"));
  }
}

TEST_CASE("file journal: while a batch is written the next one fills, and a large backlog is several batches") {
  SimDisk disk;
  auto journal = open(disk, {SyncMode::always, 1'000, 16 << 20});
  REQUIRE(journal);
  for (int i = 0; i < 300; ++i) (*journal)->append(turn_bytes(1, 10'000));
  REQUIRE((*journal)->writer().write(0));
  REQUIRE((*journal)->writer().sync(0));
  const std::uint64_t first = raw((*journal)->durable());
  CHECK(first > 90);
  CHECK(first * 10'000 <= kBatchBodyBytesMax);
  run(**journal);
  CHECK(raw((*journal)->durable()) == 300);
}

TEST_CASE("file journal: one writer a directory") {
  SimDisk disk;
  auto first = open(disk);
  REQUIRE(first);
  auto second = open(disk);
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == OpenErrorKind::locked);
  CHECK(second.error().text.find("another process uses this journal") != std::string::npos);
  (*first)->close();
  CHECK(open(disk));
}

TEST_CASE("file journal: a directory with other files and no segment is not taken, and not changed") {
  SimDisk disk;
  REQUIRE(disk.open("photos.zip", io::OpenMode::create));
  const auto changes = disk.changes();
  auto journal = open(disk);
  REQUIRE_FALSE(journal);
  CHECK(journal.error().kind == OpenErrorKind::foreign);
  CHECK(journal.error().text.find("photos.zip") != std::string::npos);
  CHECK(disk.changes() == changes);
}

TEST_CASE("file journal: a newer format is refused by its number") {
  SimDisk disk;
  { REQUIRE(open(disk)); }
  disk.crash();
  auto bytes = disk.contents(segment_name(1));
  bytes[7] = std::byte{2};
  disk.set_contents(segment_name(1), bytes);
  auto journal = open(disk);
  REQUIRE_FALSE(journal);
  CHECK(journal.error().kind == OpenErrorKind::newer);
  CHECK(journal.error().text.find("format 2") != std::string::npos);
}

TEST_CASE("file journal: records that cannot be taken end the opening with file and offset") {
  SimDisk disk;
  {
    auto journal = open(disk);
    REQUIRE(journal);
    append_turns(**journal, 3, 100);
  }
  disk.crash();
  auto journal = open(disk, small(), [](const ScannedBatch& batch) -> std::optional<std::string> {
    if (raw(batch.first) == 2) return "record type 99 is not known";
    return std::nullopt;
  });
  REQUIRE_FALSE(journal);
  CHECK(journal.error().kind == OpenErrorKind::damaged);
  CHECK(journal.error().text.find("0000000001.segment, offset ") != std::string::npos);
  CHECK(journal.error().text.find("record type 99") != std::string::npos);
}

TEST_CASE("file journal: bytes are fetched from where they stand, and batches of the oldest part in order") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  constexpr std::size_t kMax = 5'000;
  std::vector<Appended> appended;
  for (int i = 0; i < 60; ++i) {
    appended.push_back(append_turn(**journal, kMax));
    run(**journal);
  }
  (*journal)->fetch(7, appended[3].base + 2, 5);
  run(**journal);
  const auto fetched = (*journal)->take();
  REQUIRE(fetched);
  CHECK(fetched->ticket == 7);
  CHECK(fetched->base == appended[3].base + 2);
  const auto turn = turn_bytes(4, turn_size(4, kMax));
  CHECK(fetched->bytes == std::vector<std::byte>(turn.begin() + 2, turn.begin() + 7));
  CHECK_FALSE((*journal)->take());

  Replayed part;
  const BatchSink sink = part.sink();
  for (int i = 0; i < 1'000; ++i) {
    (*journal)->fetch_batch(100);
    run(**journal);
    const auto batch = (*journal)->take();
    REQUIRE(batch);
    CHECK_FALSE(sink({batch->base, batch->first, batch->last, 1, batch->bytes}));
    CHECK(batch->base == appended[raw(batch->first) - 1].base);
    if (batch->last_of_part) break;
  }
  REQUIRE((*journal)->oldest_part());
  CHECK(part.last == raw((*journal)->oldest_part()->last));
  CHECK(are_turns(part, 1, part.last, kMax));
}

TEST_CASE("file journal: a batch of the oldest part that does not fit its checksum is a failure") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  append_turns(**journal, 60, 5'000);
  disk.flip(segment_name(1), (kSegmentHeaderBytes + kBatchHeaderBytes) * 8);
  (*journal)->fetch_batch(1);
  run(**journal);
  REQUIRE((*journal)->failure());
  CHECK((*journal)->failure()->find("0000000001.segment, offset 64") != std::string::npos);
  const auto durable = (*journal)->durable();
  append_turn(**journal, 10);
  run(**journal);
  CHECK((*journal)->durable() == durable);
}

TEST_CASE("file journal: released parts go from the disk, oldest first, and what is left is read again") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  append_turns(**journal, 200, 3'000);
  const auto bytes = (*journal)->bytes();
  const auto part = (*journal)->oldest_part();
  REQUIRE(part);
  (*journal)->release_oldest_part();
  CHECK((*journal)->bytes() == bytes - part->bytes);
  run(**journal);
  CHECK_FALSE(disk.exists(segment_name(1)));
  (*journal)->release_oldest_part();
  run(**journal);
  CHECK_FALSE(disk.exists(segment_name(2)));
  const std::uint64_t first = raw((*journal)->oldest_part()->last);
  disk.crash();
  Replayed replayed;
  auto again = open(disk, small(), replayed.sink());
  REQUIRE(again);
  CHECK(replayed.first > raw(part->last));
  CHECK(replayed.first <= first);
  CHECK(are_turns(replayed, replayed.first, 200, 3'000));
  CHECK((*again)->bytes() == bytes - 2 * kSmallBytes);
}

TEST_CASE("file journal: a part is removed after what was asked for before has been read from it") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  append_turns(**journal, 60, 5'000);
  (*journal)->fetch(1, location(1, kSegmentHeaderBytes), 8);
  (*journal)->release_oldest_part();
  while ((*journal)->writer().step(0)) {
  }
  CHECK(disk.exists(segment_name(1)));
  run(**journal);
  CHECK_FALSE(disk.exists(segment_name(1)));
  CHECK((*journal)->take());
  CHECK_FALSE((*journal)->failure());
}

TEST_CASE("file journal: until the last part there is one that can be released, the one being written never") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  CHECK_FALSE((*journal)->oldest_part());
  append_turns(**journal, 100, 5'000);
  while ((*journal)->oldest_part()) (*journal)->release_oldest_part();
  run(**journal);
  CHECK((*journal)->bytes() == kSmallBytes);
  CHECK(disk.list()->size() == 2);  // it, and the one prepared ahead
  append_turns(**journal, 100, 5'000);
  CHECK((*journal)->oldest_part());
}
