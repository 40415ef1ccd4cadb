#pragma once
// clients/cpp/consumer_table.h: the consumers of a client.
//
// Threads  any; snapshot() the I/O thread, which so takes the lock only after a change.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "consumer_core.h"

namespace sluice::internal {

class ConsumerTable {
 public:
  using List = std::vector<std::shared_ptr<ConsumerCore>>;

  std::uint64_t next_number() { return next_number_++; }
  void add(std::shared_ptr<ConsumerCore> consumer) {
    const std::lock_guard lock(mutex_);
    list_.push_back(std::move(consumer));
    ++version_;
  }
  List all() const {
    const std::lock_guard lock(mutex_);
    return list_;
  }
  // Forgets the consumers of which nothing will come any more.
  void remove_gone() {
    const std::lock_guard lock(mutex_);
    if (std::erase_if(list_, [](const auto& consumer) { return consumer->is_gone(); }) != 0) ++version_;
  }

  const List& snapshot() {
    if (version_ == seen_version_) return seen_;
    const std::lock_guard lock(mutex_);
    seen_ = list_;
    seen_version_ = version_;
    return seen_;
  }

 private:
  mutable std::mutex mutex_;
  List list_;
  std::atomic<std::uint64_t> next_number_{1};
  std::atomic<std::uint64_t> version_{0};
  List seen_;
  std::uint64_t seen_version_ = 0;
};

}  // namespace sluice::internal
