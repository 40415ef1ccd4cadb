#pragma once
// journal/status.h: what the writer and the reader of a journal on files let the loop know.
//
// Threads  any.

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "journal/journal.h"

namespace sluice::journal {

// One segment that takes no more appends, or (the last one) the one in use.
struct Segment {
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
  std::uint64_t last_sequence = 0;
};

class Status {
 public:
  std::uint64_t durable() const { return durable_.load(std::memory_order_acquire); }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  bool has_room() const { return has_room_.load(std::memory_order_relaxed); }
  void set_room(bool room) { has_room_.store(room, std::memory_order_relaxed); }

  // Under one lock with fail(): after a failure it never rises.
  void raise_durable(std::uint64_t sequence) {
    const std::lock_guard lock(mutex_);
    if (!failure_) durable_.store(sequence, std::memory_order_release);
  }

  // The first one counts.
  void fail(std::string line) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(line);
    failed_.store(true, std::memory_order_release);
  }
  std::optional<std::string> failure() const {
    if (!failed()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> durable_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> has_room_{true};
  std::optional<std::string> failure_;
};

// The segments in use, in order; the last one is being written.
class Segments {
 public:
  void add(Segment segment) {
    const std::lock_guard lock(mutex_);
    bytes_ += segment.bytes;
    segments_.push_back(segment);
  }
  // The last one is full, and `next` begins.
  void close_last(std::uint64_t last_sequence, Segment next) {
    const std::lock_guard lock(mutex_);
    segments_.back().last_sequence = last_sequence;
    bytes_ += next.bytes;
    segments_.push_back(next);
  }
  std::optional<Segment> oldest_closed() const {
    const std::lock_guard lock(mutex_);
    if (segments_.size() < 2) return std::nullopt;
    return segments_.front();
  }
  std::uint32_t last_index() const {
    const std::lock_guard lock(mutex_);
    return segments_.back().index;
  }
  void drop_oldest() {
    const std::lock_guard lock(mutex_);
    bytes_ -= segments_.front().bytes;
    segments_.pop_front();
  }
  std::uint64_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Segment> segments_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sluice::journal
