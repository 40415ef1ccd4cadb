#include "io/wake_set.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace sluice::io {

WakeSet::WakeSet() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  if (fd_ < 0) throw std::runtime_error(std::string("epoll_create1: ") + std::strerror(errno));
}

WakeSet::~WakeSet() { ::close(fd_); }

void WakeSet::add(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::runtime_error(std::string("epoll_ctl: ") + std::strerror(errno));
}

}  // namespace sluice::io
