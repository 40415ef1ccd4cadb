#include "io/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>

namespace sluice::io {

Signals::Signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  // A log that nobody reads any more must not end the broker: writes fail instead.
  std::signal(SIGPIPE, SIG_IGN);
  const int blocked = pthread_sigmask(SIG_BLOCK, &set, nullptr);
  if (blocked == 0) fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd_ < 0) throw std::runtime_error(std::string("signals: ") + std::strerror(blocked != 0 ? blocked : errno));
}

Signals::~Signals() { ::close(fd_); }

std::uint32_t Signals::stops() {
  std::uint32_t count = 0;
  signalfd_siginfo info{};
  while (::read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) ++count;
  return count;
}

}  // namespace sluice::io
