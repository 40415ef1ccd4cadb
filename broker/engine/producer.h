#pragma once
// engine/producer.h: what a producer has published, so that a resend is enqueued once.
//
// Shapes   the highest sequence decided, and of the last kRememberedMax sequences what became of each, as runs.
// Threads  one.
// Source   spec/protocol.md section 7.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "engine/blocked.h"
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

// The same for refused ones.
template <class Runs>
void add_refused(Runs& runs, std::uint64_t sequence, const wire::ErrorBody& error) {
  if (!runs.empty()) {
    wire::Refused& last = runs.back();
    if (sequence == last.first_sequence + last.count && last.error.code == error.code &&
        last.error.text == error.text) {
      ++last.count;
      return;
    }
  }
  runs.push_back({sequence, 1, error});
}

class Producer {
 public:
  std::uint64_t last_sequence() const { return last_; }
  // True when `sequence` neither continues the last one nor lies at or before it. A producer that is new here may begin anywhere.
  bool leaves_gap(std::uint64_t sequence) const { return known_ && sequence > last_ && sequence - last_ > 1; }
  // The id it was accepted under before.
  std::optional<std::uint64_t> find(std::uint64_t sequence) const;
  void accepted(std::uint64_t sequence, std::uint64_t id);
  void refused(std::uint64_t sequence, const wire::ErrorBody& error);
  // The error it was refused with before: a sequence has one answer, however often it is asked for.
  const wire::ErrorBody* find_refused(std::uint64_t sequence) const;

  // Sequences whose outcome waits for room in a queue.
  void block(std::uint64_t sequence, Blocked& blocked);
  void unblock(std::uint64_t sequence) { blocked_.erase(sequence); }
  Blocked* find_blocked(std::uint64_t sequence) const;
  // The first one that answers to this session, or nullptr.
  Blocked* blocked_of(const Peer& peer) const;
  // Every sequence up to here is decided.
  std::uint64_t decided_up_to() const { return blocked_.empty() ? last_ : blocked_.begin()->first - 1; }

 private:
  void decided(std::uint64_t sequence);
  void forget_old();

  std::uint64_t last_ = 0;
  bool known_ = false;
  std::deque<wire::Accepted> runs_;
  std::deque<wire::Refused> refused_;
  std::map<std::uint64_t, Blocked*> blocked_;
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
