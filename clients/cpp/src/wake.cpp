#include "wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/check.h"

namespace sluice::internal {

Wake::Wake() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Wake::~Wake() { close(fd_); }

// The two flags are a handshake: here pending is set and then sleeping is read, in prepare_sleep() the other way round.
// In the one order of all these operations at least one side sees the other, so no work is slept over.
void Wake::notify() {
  pending_.store(true);
  if (!sleeping_.load() || !sleeping_.exchange(false)) return;
  const std::uint64_t one = 1;
  const auto written = write(fd_, &one, sizeof one);
  SLUICE_CHECK(written == sizeof one || errno == EAGAIN);  // EAGAIN: the counter is full, so the fd is readable
}

void Wake::notify_before(TimePoint deadline) {
  // until_ is stored before sleeping_: whoever sees the thread asleep sees when this sleep, or a later one, ends.
  if (sleeping_.load() && until_.load() <= deadline.time_since_epoch().count()) return;
  notify();
}

bool Wake::prepare_sleep(TimePoint until) {
  until_.store(until.time_since_epoch().count());
  sleeping_.store(true);
  if (!pending_.load()) return true;
  woke(false);
  return false;
}

void Wake::woke(bool fd_readable) {
  sleeping_.store(false);
  pending_.store(false);
  if (!fd_readable) return;
  std::uint64_t count = 0;
  const auto got = read(fd_, &count, sizeof count);
  SLUICE_CHECK(got == sizeof count || errno == EAGAIN);
}

}  // namespace sluice::internal
