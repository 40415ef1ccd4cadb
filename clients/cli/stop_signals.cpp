#include "cli/stop_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace sluice::cli {
namespace {

constexpr int kExitOfSignal = 128;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

int demanded(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = demanded(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  wake_ = demanded(eventfd(0, EFD_CLOEXEC), "eventfd");
}

StopSignals::~StopSignals() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    if (write(wake_, &one, sizeof one) == sizeof one) thread_.join();
  }
  close(signals_);
  close(wake_);
}

void StopSignals::watch(std::function<void()> first, std::function<void()> second) {
  thread_ = std::thread([this, first = std::move(first), second = std::move(second)] { run(first, second); });
}

void StopSignals::run(const std::function<void()>& first, const std::function<void()>& second) {
  // POLLERR comes unasked; a negative number is passed over by poll().
  std::array<pollfd, 3> waits{pollfd{signals_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}, pollfd{STDOUT_FILENO, 0, 0}};
  while (true) {
    if (poll(waits.data(), waits.size(), -1) < 0) continue;  // EINTR of a traced process
    if (waits[1].revents != 0) return;
    if (waits[2].revents != 0) {
      waits[2].fd = -1;
      if (!stopped_.exchange(true, std::memory_order_acq_rel)) first();
    }
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != sizeof info) continue;
    if (!stopped_.exchange(true, std::memory_order_acq_rel)) {
      first();
      continue;
    }
    second();
    _exit(kExitOfSignal + static_cast<int>(info.ssi_signo));
  }
}

}  // namespace sluice::cli
