#pragma once
// engine/producer.h: what a producer has published, so that a resend is enqueued once.
//
// Shapes   the highest sequence decided, and the ids of the accepted ones of the last kRememberedMax sequences, as runs.
// Threads  one.
// Source   spec/protocol.md section 7.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "wire/frames.h"

namespace sluice::engine {

inline constexpr std::uint64_t kRememberedMax = 65'536;  // the publish window: nothing older can be unconfirmed

// Adds one accepted message to runs of them, joining it to the last run when it continues it.
template <class Runs>
void add_accepted(Runs& runs, std::uint64_t sequence, std::uint64_t id) {
  if (!runs.empty()) {
    wire::Accepted& last = runs.back();
    if (sequence == last.first_sequence + last.count && id == last.first_id + last.count) {
      ++last.count;
      return;
    }
  }
  runs.push_back({sequence, id, 1});
}

class Producer {
 public:
  std::uint64_t last_sequence() const { return last_; }
  // True when `sequence` neither continues the last one nor lies at or before it. A producer that is new here may begin anywhere.
  bool leaves_gap(std::uint64_t sequence) const { return known_ && sequence > last_ && sequence - last_ > 1; }
  // The id it was accepted under before.
  std::optional<std::uint64_t> find(std::uint64_t sequence) const;
  void accepted(std::uint64_t sequence, std::uint64_t id);
  void refused(std::uint64_t sequence) { decided(sequence); }

 private:
  void decided(std::uint64_t sequence);

  std::uint64_t last_ = 0;
  bool known_ = false;
  std::deque<wire::Accepted> runs_;
};

// Producers that named themselves in HELLO. Those without a session are kept until kIdleMax newer ones are idle.
class ProducerTable {
 public:
  Producer& open(std::string_view name);
  void close(std::string_view name);

 private:
  static constexpr std::size_t kIdleMax = 10'000;

  struct Entry {
    Producer producer;
    std::uint64_t sessions = 0;
    std::uint64_t idle_turn = 0;
  };
  absl::flat_hash_map<std::string, std::unique_ptr<Entry>> entries_;
  std::deque<std::pair<std::string, std::uint64_t>> idle_;  // oldest first; an entry whose turn differs was used since
  std::uint64_t idle_turn_ = 0;
};

}  // namespace sluice::engine
