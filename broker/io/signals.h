#pragma once
// io/signals.h: SIGTERM and SIGINT as something to wait for.
//
// Threads  made before any other thread: these inherit the blocked signals.

#include <cstdint>

namespace sluice::io {

class Signals {
 public:
  // Blocks the signals for this thread and all made later. Throws std::runtime_error.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Readable when a signal came.
  int fd() const { return fd_; }
  // SIGTERM and SIGINT since the last call.
  std::uint32_t stops();

 private:
  int fd_ = -1;
};

}  // namespace sluice::io
