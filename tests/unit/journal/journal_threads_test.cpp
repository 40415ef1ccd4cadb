#include "journal/journal_threads.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <cerrno>
#include <filesystem>

#include "harness.h"
#include "io/posix_disk.h"
#include "temporary_directory.h"

using namespace sluice;
using namespace sluice::journal;
using namespace sluice::journal::test;
using sluice::test::TemporaryDirectory;

namespace {

constexpr int kPatienceMs = 20'000;

std::unique_ptr<io::PosixDisk> disk_in(const TemporaryDirectory& directory) {
  auto disk = io::PosixDisk::open(directory.path());
  REQUIRE(disk);
  return std::move(*disk);
}

// As the loop does: sleeps until it is woken, then looks. Gives how often it was woken.
template <class Done>
int wait_for(JournalThreads& threads, Done done) {
  int woken = 0;
  while (!done()) {
    pollfd wake{threads.wake_fd(), POLLIN, 0};
    REQUIRE(::poll(&wake, 1, kPatienceMs) == 1);
    threads.drain();
    ++woken;
  }
  return woken;
}

void work(SyncMode mode) {
  const TemporaryDirectory directory;
  constexpr std::size_t kMax = 3'000;
  constexpr std::uint64_t kTurns = 1'500;
  {
    const auto disk = disk_in(directory);
    auto opened = open(*disk, {mode, 5, kSmallBytes});
    REQUIRE(opened);
    FileJournal& journal = **opened;
    JournalThreads threads(journal);
    std::uint64_t asked = 0;
    std::uint64_t answered = 0;
    const auto take_all = [&] {
      while (auto fetched = journal.take()) {
        const auto turn = turn_bytes(fetched->ticket, turn_size(fetched->ticket, kMax));
        REQUIRE(fetched->bytes == turn);
        ++answered;
      }
    };
    std::vector<Location> bases{Location{}};
    for (std::uint64_t i = 1; i <= kTurns; ++i) {
      bases.push_back(append_turn(journal, kMax).base);
      take_all();
      if (i % 100 == 0) wait_for(threads, [&] { return raw(journal.durable()) >= i; });
      if (i % 10 != 0 || raw(journal.durable()) == 0) continue;
      const std::uint64_t ticket = raw(journal.durable());
      journal.fetch(ticket, bases[ticket], turn_size(ticket, kMax));
      ++asked;
    }
    wait_for(threads, [&] {
      take_all();
      return answered == asked && journal.durable() == journal.last();
    });
    CHECK(asked > 50);
    // The first two parts go while appends go on.
    REQUIRE(journal.oldest_part());
    journal.release_oldest_part();
    journal.release_oldest_part();
    append_turn(journal, kMax);
    wait_for(threads, [&] { return journal.durable() == journal.last(); });
    threads.stop();
    journal.close();
    REQUIRE_FALSE(journal.failure());
    CHECK_FALSE(std::filesystem::exists(disk->path(segment_name(1))));
    CHECK_FALSE(std::filesystem::exists(disk->path(segment_name(2))));
  }
  const auto disk = disk_in(directory);
  Replayed replayed;
  REQUIRE(open(*disk, small(mode), replayed.sink()));
  CHECK(replayed.first > 1);
  CHECK(are_turns(replayed, replayed.first, kTurns + 1, kMax));
}

}  // namespace

TEST_CASE("journal threads: appends become durable, fetches are answered, parts go, and all is there again (always)") {
  work(SyncMode::always);
}

TEST_CASE(
    "journal threads: appends become durable, fetches are answered, parts go, and all is there again (interval)") {
  work(SyncMode::interval);
}

TEST_CASE("journal threads: the loop is woken once for all that happened until it looks, and not without a reason") {
  const TemporaryDirectory directory;
  const auto disk = disk_in(directory);
  auto journal = open(*disk);
  REQUIRE(journal);
  JournalThreads threads(**journal);
  pollfd wake{threads.wake_fd(), POLLIN, 0};
  CHECK(::poll(&wake, 1, 0) == 0);
  for (int i = 0; i < 200; ++i) append_turn(**journal, 100);
  threads.stop();  // whatever it did until now
  threads.drain();
  CHECK(::poll(&wake, 1, 0) == 0);
  (*journal)->close();
  CHECK((*journal)->durable() == (*journal)->last());
}

TEST_CASE("journal threads: an interval is kept without anybody asking") {
  SimDisk disk;  // of the writer's thread alone once that runs
  auto journal = open(disk, {SyncMode::interval, 20, kSmallBytes});
  REQUIRE(journal);
  disk.fail(Call::sync, 1, EIO);  // the first sync shows itself by this
  JournalThreads threads(**journal);
  append_turn(**journal, 100);
  wait_for(threads, [&] { return (*journal)->failure().has_value(); });
  CHECK((*journal)->durable() == (*journal)->last());  // it was written, and told before
}

TEST_CASE("journal threads: a failure wakes the loop") {
  SimDisk disk;
  auto journal = open(disk);
  REQUIRE(journal);
  disk.fail(Call::sync, 1, EIO);
  JournalThreads threads(**journal);
  append_turn(**journal, 100);
  wait_for(threads, [&] { return (*journal)->failure().has_value(); });
  CHECK(raw((*journal)->durable()) == 0);
}
