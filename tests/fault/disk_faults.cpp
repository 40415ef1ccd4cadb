// A disk that hangs or fails, as long as a file says so: each fdatasync() looks into the file that DISK_FAULTS names.
//
//   hold   waits until the file says something else
//   fail   EIO, and nothing is synced
//
// Anything else, or no such file: the disk is well. Tests write the file under another name and rename it.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace {

constexpr useconds_t kLookEveryUs = 2'000;

enum class Fault { none, hold, fail };

Fault asked_for() {
  const char* const path = std::getenv("DISK_FAULTS");
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return Fault::none;
  std::array<char, 8> text{};
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  const std::string_view word(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (word == "hold") return Fault::hold;
  return word == "fail" ? Fault::fail : Fault::none;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int fdatasync(int file) {
  using Call = int (*)(int);
  static const Call next = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "fdatasync"));
  Fault fault = asked_for();
  while (fault == Fault::hold) {
    ::usleep(kLookEveryUs);
    fault = asked_for();
  }
  if (fault == Fault::none) return next(file);
  errno = EIO;
  return -1;
}
