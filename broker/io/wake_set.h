#pragma once
// io/wake_set.h: several descriptors that wake the loop, as one.
//
// Threads  add() before the loop runs.

namespace sluice::io {

class WakeSet {
 public:
  // Throws std::runtime_error.
  WakeSet();
  ~WakeSet();
  WakeSet(const WakeSet&) = delete;
  WakeSet& operator=(const WakeSet&) = delete;

  // REQUIRES: `fd` lives as long as this.
  void add(int fd);
  // Readable while one of them is.
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace sluice::io
