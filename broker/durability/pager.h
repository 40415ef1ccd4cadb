#pragma once
// durability/pager.h: which bodies are in memory. Beyond a limit the newest ones stay on disk, and come back before their turn.
//
// Place    dispatcher, admin -> [pager] -> journal, and back when what was read has come.
// Shapes   a body goes only when it is durable: whoever keeps up with what is published never waits for the disk.
// Bounds   memory_bytes of bodies, beside those that are not durable yet, that are leased, and kAheadBytes a queue that is consumed.
// Threads  one.
// Source   spec/semantics.md "Memory".

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_set.h>

#include "durability/recorder.h"
#include "engine/bodies.h"
#include "engine/engine.h"
#include "journal/journal.h"

namespace sluice::durability {

class Pager final : public engine::Bodies {
 public:
  Pager(std::uint64_t memory_bytes, engine::Engine& engine, Recorder& recorder, journal::Journal& journal)
      : memory_bytes_(memory_bytes), engine_(engine), recorder_(recorder), journal_(journal) {}

  void look_ahead(engine::Queue& queue) override;
  void fetch(engine::Message& message) override;

  // The turn in which the recorder's loose keys were published, or came back, was appended as `turn`.
  void appended(Sequence turn);
  // Frees bodies that are durable and too many.
  void trim();
  // What was asked for is here. REQUIRES: the ticket is one of this pager's.
  void arrived(const journal::Fetched& fetched, const engine::Now& now);

  // One line, once a body came back with other bytes: the process has to stop.
  const std::optional<std::string>& failure() const { return failure_; }

  // Of the reads under way, ~0 if there is none; and the next one's.
  std::uint64_t oldest_ticket() const { return reads_.empty() ? ~std::uint64_t{0} : reads_.begin()->first; }
  std::uint64_t next_ticket() const { return next_ticket_; }

 private:
  enum class Why : std::uint8_t { next, looked_at };  // will be handed out, or somebody only looks at it
  // Messages whose bodies stand near each other, read at once.
  struct Read {
    Why why = Why::next;
    std::uint64_t queue = 0;
    std::uint64_t begin = 0;  // location
    std::uint64_t end = 0;
    std::vector<std::uint64_t> keys;
  };

  void damaged(const engine::Message& message);
  bool over() const;
  std::vector<engine::Message*> next_ones(engine::Queue& queue) const;
  void read(const std::vector<engine::Message*>& wanted, Why why);
  void drop_body(std::uint64_t key);
  void ask(Read&& read);

  std::uint64_t memory_bytes_;
  engine::Engine& engine_;
  Recorder& recorder_;
  journal::Journal& journal_;
  struct Candidate {
    Sequence turn;
    std::uint64_t key;
  };
  struct LookedAt {
    std::uint64_t ticket;  // the first one that was not yet given when it came
    std::uint64_t key;
  };
  std::deque<Candidate> candidates_;
  std::deque<LookedAt> looked_at_;
  absl::btree_map<std::uint64_t, Read> reads_;  // by ticket
  absl::flat_hash_set<std::uint64_t> wanted_;   // keys that are being read
  std::uint64_t next_ticket_ = 2;               // even: odd ones are the compactor's
  std::optional<std::string> failure_;
};

}  // namespace sluice::durability
