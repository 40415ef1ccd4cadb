#include "cli/bench/parent_lines.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "cli/failure.h"

namespace sluice::cli {

ParentLines::ParentLines(std::function<void(const std::string& line)> on_line)
    : on_line_(std::move(on_line)), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

ParentLines::~ParentLines() {
  const std::uint64_t one = 1;
  if (write(wake_, &one, sizeof one) == sizeof one) thread_.join();
  close(wake_);
}

void ParentLines::run() {
  std::string pending;
  std::array<char, 256> part;
  while (true) {
    std::array<pollfd, 2> waits{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    if (poll(waits.data(), waits.size(), -1) < 0) continue;  // EINTR of a traced process
    if (waits[1].revents != 0) return;
    const ssize_t got = read(STDIN_FILENO, part.data(), part.size());
    if (got <= 0) _exit(static_cast<int>(Exit::failed));
    pending.append(part.data(), static_cast<std::size_t>(got));
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      on_line_(pending.substr(0, end));
      pending.erase(0, end + 1);
    }
  }
}

}  // namespace sluice::cli
