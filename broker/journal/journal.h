#pragma once
// journal/journal.h: keeps the bytes of a turn's records in order, and says up to where they are safe.
//
// Place    engine -> [journal] -> outbox: nothing is told to a peer before durable() reaches the turn that caused it.
// Shapes   in: the records of one turn, as bytes it does not look into. out: Sequence, from 1, +1 each, never reused.
// Threads  append() and durable() from the loop. An implementation that writes on a thread of its own wakes the loop when
//          durable() has risen.
// Source   spec/decisions/0005-journal-of-outcomes.md.

#include <cstddef>
#include <span>
#include <string_view>

#include "base/ids.h"

namespace sluice::journal {

class Journal {
 public:
  virtual ~Journal() = default;
  // What CONFIRM means with it: "memory", "always", "interval" or "os" (WELCOME `sync`).
  virtual std::string_view sync() const = 0;
  // False: the bytes are never read again, so nobody needs to make them.
  virtual bool keeps_bytes() const = 0;
  virtual Sequence append(std::span<const std::byte> records) = 0;
  virtual Sequence last() const = 0;
  // Never falls; at most last().
  virtual Sequence durable() const = 0;
};

// Memory mode: nothing outlives the process, so everything is as safe as it will ever be at once.
class MemoryJournal final : public Journal {
 public:
  std::string_view sync() const override { return "memory"; }
  bool keeps_bytes() const override { return false; }
  Sequence append(std::span<const std::byte>) override {
    last_ = Sequence{raw(last_) + 1};
    return last_;
  }
  Sequence last() const override { return last_; }
  Sequence durable() const override { return last_; }

 private:
  Sequence last_{};
};

}  // namespace sluice::journal
