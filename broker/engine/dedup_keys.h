#pragma once
// engine/dedup_keys.h: keys of messages accepted lately, so that the same key is enqueued once inside a window.
//
// Units    ms on the steady scale.
// Bounds   kKeysMax keys.
// Threads  one.
// Source   spec/semantics.md "Deduplication by key".

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "base/ids.h"
#include "engine/now.h"

namespace sluice::engine {

class DedupKeys {
 public:
  static constexpr std::size_t kKeysMax = 1'000'000;

  // The message accepted under the key less than `window_ms` ago.
  std::optional<MessageId> find(std::string_view key, std::uint64_t window_ms, const Now& now);
  // REQUIRES: find() has just not found it, and the table is not full.
  void add(std::string_view key, MessageId id, const Now& now);
  bool full() const { return keys_.size() >= kKeysMax; }
  bool empty() const { return keys_.empty(); }

  struct Entry {
    MessageId id{};
    std::uint64_t at_ms = 0;
  };
  // Whatever its age; nullptr if it was never added, or forgotten.
  Entry* look(std::string_view key);
  // For recovery, in order of time: the newest of a key counts.
  void restore(std::string_view key, const Entry& entry);

 private:
  void forget_old(std::uint64_t window_ms, const Now& now);

  absl::flat_hash_map<std::string, Entry> keys_;
  std::deque<std::pair<std::uint64_t, std::string>> order_;  // by time
};

}  // namespace sluice::engine
