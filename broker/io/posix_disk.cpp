#include "io/posix_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace sluice::io {
namespace {

constexpr mode_t kFileMode = 0640;
constexpr mode_t kDirectoryMode = 0750;
constexpr std::size_t kClearBytes = 256 << 10;

tl::unexpected<IoError> failed(const char* call, std::string file, int number = errno) {
  return tl::unexpected(IoError{call, std::move(file), number});
}

// Calls until no signal comes in between.
template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class PosixFile final : public File {
 public:
  PosixFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~PosixFile() override { ::close(fd_); }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  IoResult<std::uint64_t> size() override {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) return failed("fstat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  IoResult<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const auto got = retried(
          [&] { return ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done)); });
      if (got < 0) return failed("pread", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  IoResult<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto put = retried(
          [&] { return ::pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done)); });
      if (put < 0) return failed("pwrite", path_);
      if (put == 0) return failed("pwrite", path_, EIO);  // would go on for ever
      done += static_cast<std::size_t>(put);
    }
    return {};
  }

  // Not repeated after EINTR: whether the first one lost something is not known.
  IoResult<void> sync() override {
    if (::fdatasync(fd_) != 0) return failed("fdatasync", path_);
    return {};
  }

  IoResult<void> reserve(std::uint64_t bytes) override {
    int number = EINTR;
    while (number == EINTR) number = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes));
    if (number != 0) return failed("posix_fallocate", path_, number);
    return {};
  }

  // By writing, not by punching a hole: the room stays reserved. What is zeros already is left alone.
  IoResult<void> clear_from(std::uint64_t offset) override {
    const auto end = size();
    if (!end) return tl::unexpected(end.error());
    std::vector<std::byte> chunk(kClearBytes);
    static const std::vector<std::byte> zeros(kClearBytes);
    while (offset < *end) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), *end - offset));
      const auto got = read(offset, std::span(chunk).first(wanted));
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) break;
      const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
      if (!std::all_of(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(*got), is_zero)) {
        if (auto done = write(offset, std::span(zeros).first(*got)); !done) return done;
      }
      offset += *got;
    }
    return {};
  }

 private:
  const std::string path_;
  const int fd_;
};

IoResult<int> open_directory(const std::string& directory) {
  const int fd = retried([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) return failed("open", directory);
  return fd;
}

IoResult<void> sync_parent(const std::string& directory) {
  const std::string parent = directory + "/..";
  const auto fd = open_directory(parent);
  if (!fd) return tl::unexpected(fd.error());
  const int done = ::fsync(*fd);
  const int number = errno;
  ::close(*fd);
  if (done != 0) return failed("fsync", parent, number);
  return {};
}

}  // namespace

IoResult<std::unique_ptr<PosixDisk>> PosixDisk::open(std::string directory) {
  if (::mkdir(directory.c_str(), kDirectoryMode) == 0) {
    if (auto done = sync_parent(directory); !done) return tl::unexpected(done.error());
  } else if (errno != EEXIST) {
    return failed("mkdir", directory);
  }
  return open_existing(std::move(directory));
}

IoResult<std::unique_ptr<PosixDisk>> PosixDisk::open_existing(std::string directory) {
  const auto fd = open_directory(directory);
  if (!fd) return tl::unexpected(fd.error());
  return std::unique_ptr<PosixDisk>(new PosixDisk(std::move(directory), *fd));
}

PosixDisk::~PosixDisk() {
  unlock();
  ::close(fd_);
}

std::string PosixDisk::path(std::string_view name) const { return directory_ + "/" + std::string(name); }

IoResult<std::vector<std::string>> PosixDisk::list() {
  const int fd = ::openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failed("open", directory_);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), &::closedir);
  if (!stream) {
    const int number = errno;
    ::close(fd);
    return failed("fdopendir", directory_, number);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return failed("readdir", directory_);
  std::sort(names.begin(), names.end());
  return names;
}

IoResult<std::unique_ptr<File>> PosixDisk::open(std::string_view name, OpenMode mode) {
  int flags = O_CLOEXEC | O_NOFOLLOW;
  switch (mode) {
    case OpenMode::read:
      flags |= O_RDONLY;
      break;
    case OpenMode::write:
      flags |= O_RDWR;
      break;
    case OpenMode::create:
      flags |= O_RDWR | O_CREAT | O_EXCL;
      break;
  }
  const std::string text(name);
  const int fd = retried([&] { return ::openat(fd_, text.c_str(), flags, kFileMode); });
  if (fd < 0) return failed("open", path(name));
  return std::make_unique<PosixFile>(path(name), fd);
}

IoResult<void> PosixDisk::rename(std::string_view from, std::string_view to) {
  if (::renameat(fd_, std::string(from).c_str(), fd_, std::string(to).c_str()) != 0)
    return failed("rename", path(from));
  return {};
}

IoResult<void> PosixDisk::remove(std::string_view name) {
  if (::unlinkat(fd_, std::string(name).c_str(), 0) != 0) return failed("unlink", path(name));
  return {};
}

IoResult<void> PosixDisk::sync_directory() {
  if (::fsync(fd_) != 0) return failed("fsync", directory_);
  return {};
}

IoResult<bool> PosixDisk::lock(std::string_view name) {
  unlock();
  const std::string text(name);
  const int fd =
      retried([&] { return ::openat(fd_, text.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode); });
  if (fd < 0) return failed("open", path(name));
  if (retried([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) != 0) {
    const int number = errno;
    ::close(fd);
    if (number == EWOULDBLOCK) return false;
    return failed("flock", path(name), number);
  }
  lock_fd_ = fd;
  // The number is for people; the lock is what counts, so a full disk is no reason to stop here.
  const std::string id = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) == 0) (void)!::pwrite(fd, id.data(), id.size(), 0);
  return true;
}

void PosixDisk::unlock() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
  lock_fd_ = -1;
}

}  // namespace sluice::io
