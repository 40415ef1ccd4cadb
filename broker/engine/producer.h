#pragma once
// engine/producer.h: what a producer has published, so that a resend is enqueued once.
//
// Shapes   the highest sequence that was decided or waits, and of the last kRememberedMax sequences what became of each, as runs.
// Threads  one.
// Source   spec/protocol.md section 7.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "base/ids.h"
#include "engine/blocked.h"
#include "wire/frames.h"

namespace sluice::engine {

class Records;

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
  // Of a named one, from 1, never reused; 0: a session's own.
  std::uint64_t number() const { return number_; }
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
  // Its answer is the caller's next step, ...
  void unblock(std::uint64_t sequence) { blocked_.erase(sequence); }
  // ... or there is none: it is as if it had never been sent.
  void forget_blocked(std::uint64_t sequence);
  Blocked* find_blocked(std::uint64_t sequence) const;
  // The first one that answers to this session, or nullptr.
  Blocked* blocked_of(const Peer& peer) const;
  // Every sequence up to here is decided.
  std::uint64_t decided_up_to() const;

  // All that a journal keeps of it.
  const std::deque<wire::Accepted>& accepted_runs() const { return runs_; }
  const std::deque<wire::Refused>& refused_runs() const { return refused_; }
  // Of the sequences that were decided. What waits is not: a broker that starts anew has never heard of it.
  std::uint64_t last_decided() const;
  void restore(std::uint64_t last_sequence, std::deque<wire::Accepted> accepted, std::deque<wire::Refused> refused);

  Sequence home{};  // the turn of its newest full record

 private:
  friend class ProducerTable;

  void known(std::uint64_t sequence);
  void decided(std::uint64_t sequence);
  void forget_old();
  void find_missing();

  std::uint64_t number_ = 0;
  std::uint64_t last_ = 0;
  bool known_ = false;
  std::deque<wire::Accepted> runs_;
  std::deque<wire::Refused> refused_;
  std::map<std::uint64_t, Blocked*> blocked_;
  std::set<std::uint64_t> missing_;  // below last_: they waited, and were forgotten
};

// Producers that named themselves in HELLO. Those without a session are kept until kIdleMax newer ones are idle.
class ProducerTable {
 public:
  explicit ProducerTable(Records& records) : records_(records) {}

  Producer& open(std::string_view name);
  void close(std::string_view name);

  // nullptr if it is not known, or not any more.
  Producer* find(std::uint64_t number);
  Producer* find(std::string_view name);
  std::string_view name(std::uint64_t number) const { return by_number_.at(number)->name; }
  // For recovery: one without a session. REQUIRES: neither number nor name is there.
  Producer& restore(std::uint64_t number, std::string_view name);
  // For recovery: without record. What is idle beyond the limit stays until the next one closes.
  void forget(std::uint64_t number);
  std::uint64_t next_number() const { return next_number_; }
  void begin_at(std::uint64_t next_number) { next_number_ = next_number; }

 private:
  static constexpr std::size_t kIdleMax = 10'000;

  struct Entry {
    Producer producer;
    std::string name;
    std::uint64_t sessions = 0;
    std::uint64_t idle_turn = 0;
  };
  Entry& add(std::uint64_t number, std::string_view name);
  void rest(Entry& entry);

  Records& records_;
  std::uint64_t next_number_ = 1;
  absl::flat_hash_map<std::string, std::unique_ptr<Entry>> entries_;
  absl::flat_hash_map<std::uint64_t, Entry*> by_number_;
  std::deque<std::pair<std::string, std::uint64_t>> idle_;  // oldest first; an entry whose turn differs was used since
  std::uint64_t idle_turn_ = 0;
};

}  // namespace sluice::engine
