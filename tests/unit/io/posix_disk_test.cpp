#include "io/posix_disk.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "temporary_directory.h"

using namespace sluice::io;
using sluice::test::TemporaryDirectory;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::unique_ptr<PosixDisk> open(const TemporaryDirectory& directory) {
  auto disk = PosixDisk::open(directory.path());
  REQUIRE(disk);
  return std::move(*disk);
}

}  // namespace

TEST_CASE("posix disk: a missing directory is made, the one above it is not") {
  const TemporaryDirectory directory;
  const std::string made = directory.path() + "/data";
  CHECK_FALSE(PosixDisk::open_existing(made));
  CHECK(PosixDisk::open(made));
  CHECK(std::filesystem::is_directory(made));
  CHECK(PosixDisk::open(made));
  const auto deeper = PosixDisk::open(directory.path() + "/no/data");
  REQUIRE_FALSE(deeper);
  CHECK(deeper.error().number == ENOENT);
  CHECK(deeper.error().text() == "mkdir " + directory.path() + "/no/data: No such file or directory");
}

TEST_CASE("posix disk: what is written is read, and a read ends with the file") {
  const TemporaryDirectory directory;
  const auto disk = open(directory);
  auto file = disk->open("a", OpenMode::create);
  REQUIRE(file);
  REQUIRE((*file)->write(3, bytes_of("hello")));
  REQUIRE((*file)->sync());
  CHECK(*(*file)->size() == 8);
  std::vector<std::byte> into(100, std::byte{9});
  CHECK(*(*file)->read(4, into) == 4);
  CHECK(std::vector<std::byte>(into.begin(), into.begin() + 4) == bytes_of("ello"));
  CHECK(*(*file)->read(8, into) == 0);
  CHECK(*(*file)->read(1'000, into) == 0);
}

TEST_CASE("posix disk: reserved room reads as zeros, keeps what is there, and takes room on the disk") {
  const TemporaryDirectory directory;
  const auto disk = open(directory);
  auto file = disk->open("a", OpenMode::create);
  REQUIRE(file);
  REQUIRE((*file)->write(0, bytes_of("x")));
  REQUIRE((*file)->reserve(1 << 20));
  CHECK(*(*file)->size() == 1 << 20);
  std::vector<std::byte> into(1 << 20);
  REQUIRE(*(*file)->read(0, into) == into.size());
  CHECK(into[0] == std::byte{'x'});
  CHECK(std::all_of(into.begin() + 1, into.end(), [](std::byte byte) { return byte == std::byte{0}; }));
  struct stat status {};
  REQUIRE(::stat(disk->path("a").c_str(), &status) == 0);
  CHECK(status.st_blocks * 512 >= 1 << 20);
}

TEST_CASE("posix disk: clearing leaves what is before it, and the size") {
  const TemporaryDirectory directory;
  const auto disk = open(directory);
  auto file = disk->open("a", OpenMode::create);
  REQUIRE(file);
  REQUIRE((*file)->reserve(1 << 20));
  REQUIRE((*file)->write(0, bytes_of("keep")));
  REQUIRE((*file)->write((1 << 20) - 3, bytes_of("end")));
  REQUIRE((*file)->write(300'000, bytes_of("middle")));
  REQUIRE((*file)->clear_from(4));
  CHECK(*(*file)->size() == 1 << 20);
  std::vector<std::byte> into(1 << 20);
  REQUIRE(*(*file)->read(0, into) == into.size());
  CHECK(std::vector<std::byte>(into.begin(), into.begin() + 4) == bytes_of("keep"));
  CHECK(std::all_of(into.begin() + 4, into.end(), [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_CASE("posix disk: names are made, changed, listed in order and removed; errors name call and file") {
  const TemporaryDirectory directory;
  const auto disk = open(directory);
  REQUIRE(disk->open("b", OpenMode::create));
  REQUIRE(disk->open("a", OpenMode::create));
  const auto again = disk->open("a", OpenMode::create);
  REQUIRE_FALSE(again);
  CHECK(again.error().number == EEXIST);
  REQUIRE(disk->rename("b", "c"));
  REQUIRE(disk->sync_directory());
  CHECK(*disk->list() == std::vector<std::string>{"a", "c"});
  REQUIRE(disk->remove("a"));
  const auto missing = disk->open("a", OpenMode::read);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text() == "open " + directory.path() + "/a: No such file or directory");
  CHECK_FALSE(disk->remove("a"));
  CHECK_FALSE(disk->rename("a", "b"));
}

TEST_CASE("posix disk: a link in the place of a file is not followed") {
  const TemporaryDirectory directory;
  const TemporaryDirectory elsewhere;
  const auto disk = open(directory);
  std::ofstream(elsewhere.path() + "/victim") << "x";
  std::filesystem::create_symlink(elsewhere.path() + "/victim", disk->path("a"));
  const auto file = disk->open("a", OpenMode::write);
  REQUIRE_FALSE(file);
  CHECK(file.error().number == ELOOP);
}

TEST_CASE("posix disk: S25: one holder of a lock, in this process or another, until it lets go or dies") {
  const TemporaryDirectory directory;
  const auto first = open(directory);
  REQUIRE(*first->lock("lock"));
  std::string id;
  std::ifstream(first->path("lock")) >> id;
  CHECK(id == std::to_string(::getpid()));
  {
    const auto second = open(directory);
    CHECK_FALSE(*second->lock("lock"));
    first->unlock();
    CHECK(*second->lock("lock"));
    CHECK_FALSE(*first->lock("lock"));
  }
  // Another process that ends without letting go.
  int pipe_fds[2];
  REQUIRE(::pipe2(pipe_fds, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto disk = PosixDisk::open(directory.path());
    const char got = disk && *(*disk)->lock("lock") ? 'y' : 'n';
    (void)!::write(pipe_fds[1], &got, 1);
    ::pause();
    ::_exit(0);
  }
  REQUIRE(child > 0);
  char got = 0;
  REQUIRE(::read(pipe_fds[0], &got, 1) == 1);
  CHECK(got == 'y');
  CHECK_FALSE(*first->lock("lock"));
  ::kill(child, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(*first->lock("lock"));
  ::close(pipe_fds[0]);
  ::close(pipe_fds[1]);
}

TEST_CASE("posix disk: descriptors are not handed to programs that are started") {
  const TemporaryDirectory directory;
  const auto disk = open(directory);
  REQUIRE(*disk->lock("lock"));
  auto file = disk->open("a", OpenMode::create);
  REQUIRE(file);
  int ours = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (gone || target.string().rfind(directory.path(), 0) != 0) continue;
    ++ours;
    CHECK((::fcntl(std::stoi(entry.path().filename().string()), F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(ours == 3);
}
