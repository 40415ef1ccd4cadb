// A journal in a real directory.

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness.h"
#include "io/posix_disk.h"
#include "temporary_directory.h"

using namespace sluice;
using namespace sluice::journal;
using namespace sluice::journal::test;
using sluice::test::TemporaryDirectory;

namespace {

std::unique_ptr<io::PosixDisk> disk_in(const TemporaryDirectory& directory) {
  auto disk = io::PosixDisk::open(directory.path());
  REQUIRE(disk);
  return std::move(*disk);
}

}  // namespace

TEST_CASE("posix journal: S25: of two openers one wins, and the other says who has it") {
  const TemporaryDirectory directory;
  const auto first = disk_in(directory);
  const auto second = disk_in(directory);
  auto journal = open(*first);
  REQUIRE(journal);
  auto refused = open(*second);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == OpenErrorKind::locked);
  CHECK(refused.error().text.find(std::to_string(::getpid())) != std::string::npos);
  (*journal)->close();
  CHECK(open(*second));
}

TEST_CASE("posix journal: nothing is put into a directory of somebody else's, not even a lock") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/photos.zip") << "x";
  const auto disk = disk_in(directory);
  const auto journal = open(*disk);
  REQUIRE_FALSE(journal);
  CHECK(journal.error().kind == OpenErrorKind::foreign);
  const auto names = disk->list();
  REQUIRE(names);
  CHECK(*names == std::vector<std::string>{"photos.zip"});
}

TEST_CASE("posix journal: a torn last batch is cut, told, and appended over") {
  const TemporaryDirectory directory;
  const auto disk = disk_in(directory);
  std::uint64_t begin = 0;
  {
    auto journal = open(*disk);
    REQUIRE(journal);
    append_turns(**journal, 5, 3'000);
    begin = offset_of((*journal)->append(turn_bytes(6, 2'000)).base) - kBatchHeaderBytes;
    run(**journal);
    disk->unlock();
  }
  const auto file = disk->open(segment_name(1), io::OpenMode::write);
  REQUIRE(file);
  REQUIRE((*file)->clear_from(begin + 1'000));
  Replayed replayed;
  auto journal = open(*disk, small(), replayed.sink());
  REQUIRE(journal);
  REQUIRE((*journal)->opening().cut);
  CHECK((*journal)->opening().cut->file == directory.path() + "/0000000001.segment");
  CHECK((*journal)->opening().cut->offset == begin);
  CHECK((*journal)->opening().cut->bytes == 1'000);
  CHECK(are_turns(replayed, 1, 5, 3'000));
  append_turns(**journal, 50, 3'000);
  (*journal)->close();
  Replayed again;
  REQUIRE(open(*disk, small(), again.sink()));
  CHECK(are_turns(again, 1, 55, 3'000));
}
