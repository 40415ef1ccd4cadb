#pragma once
// server/drain.h: the way from "stop" to the end.
//
// Source   spec/semantics.md "Drain".

#include <cstdint>

namespace sluice::server {

class Drain {
 public:
  void begin(std::uint64_t now_ms, std::uint64_t timeout_ms) {
    draining_ = true;
    deadline_ms_ = now_ms + timeout_ms;
  }
  void stop_at_once() { stopped_ = true; }

  bool draining() const { return draining_; }
  std::uint64_t deadline_ms() const { return deadline_ms_; }
  // `leases`: those still live.
  bool over(std::uint64_t now_ms, std::uint64_t leases) const {
    return stopped_ || (draining_ && (leases == 0 || now_ms >= deadline_ms_));
  }

 private:
  bool draining_ = false;
  bool stopped_ = false;
  std::uint64_t deadline_ms_ = 0;
};

}  // namespace sluice::server
