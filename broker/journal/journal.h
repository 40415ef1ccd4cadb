#pragma once
// journal/journal.h: keeps the bytes of each turn's records in order, and says up to where they are safe.
//
// Place    engine -> [journal] -> outbox: nothing is told to a peer before durable() reaches the turn that caused it.
// Shapes   in: the records of one turn, as bytes it does not look into. out: Sequence, from 1, +1 each, never reused; Location, which
//          names a byte that was appended. Nothing here knows files: a replicated log can stand behind it as well.
// Errors   failure(): after it durable() never rises again, and the process has to stop.
// Threads  all calls from the loop. An implementation that works on threads of its own wakes the loop when durable() has risen, when
//          something can be taken, and when it failed.
// Source   spec/journal.md; spec/decisions/0005-journal-of-outcomes.md.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace sluice::journal {

// Where a byte stands. Those of one append() follow each other: base + i is the i-th one. 0: nowhere.
enum class Location : std::uint64_t {};
constexpr Location operator+(Location base, std::uint64_t bytes) { return Location{raw(base) + bytes}; }

struct Appended {
  Sequence sequence{};
  Location base{};
};

// The oldest part of the journal that takes no more appends. Parts go whole.
struct Part {
  Sequence last{};  // of the turns in it
  std::uint64_t bytes = 0;
};

// An answer to fetch() or fetch_batch().
struct Fetched {
  std::uint64_t ticket = 0;
  Location base{};  // of bytes[0]
  std::vector<std::byte> bytes;
  Sequence first{};  // fetch_batch(): the turns whose records these are
  Sequence last{};
  bool last_of_part = false;
};

class Journal {
 public:
  virtual ~Journal() = default;
  // What CONFIRM means with it: "memory", "always", "interval" or "os" (WELCOME `sync`).
  virtual std::string_view sync() const = 0;
  // False: the bytes are never read again, so nobody needs to make them.
  virtual bool keeps_bytes() const = 0;
  virtual Appended append(std::span<const std::byte> records) = 0;
  virtual Sequence last() const = 0;
  // Never falls; at most last().
  virtual Sequence durable() const = 0;
  // One line for people, once something went wrong for good.
  virtual std::optional<std::string> failure() const { return std::nullopt; }

  // Appended and not yet durable.
  virtual std::uint64_t pending_bytes() const { return 0; }
  // False: the disk is full. What frees room (acks) is still taken, from a reserve; new messages have to be refused.
  virtual bool has_room() const { return true; }
  // On a full disk, what is left of that reserve.
  virtual std::uint64_t reserve_bytes() const { return ~std::uint64_t{0}; }
  // For people.
  virtual std::string describe(Location /*at*/) const { return "memory"; }
  // All that is kept.
  virtual std::uint64_t bytes() const { return 0; }

  // Asks for bytes that were appended; the answer comes by take(), once they are durable. Tickets are the caller's.
  virtual void fetch(std::uint64_t /*ticket*/, Location /*at*/, std::size_t /*bytes*/) {}
  // Asks for the next batch of the oldest part: first the first one, then the one after that, ...
  virtual void fetch_batch(std::uint64_t /*ticket*/) {}
  virtual std::optional<Fetched> take() { return std::nullopt; }
  // nullopt: there is only the part that is being written.
  virtual std::optional<Part> oldest_part() const { return std::nullopt; }
  // Nothing in the oldest part is needed any more. REQUIRES: what replaces it is durable.
  virtual void release_oldest_part() {}
};

// Memory mode: nothing outlives the process, so everything is as safe as it will ever be at once.
class MemoryJournal final : public Journal {
 public:
  std::string_view sync() const override { return "memory"; }
  bool keeps_bytes() const override { return false; }
  Appended append(std::span<const std::byte>) override {
    last_ = Sequence{raw(last_) + 1};
    return {last_, {}};
  }
  Sequence last() const override { return last_; }
  Sequence durable() const override { return last_; }

 private:
  Sequence last_{};
};

}  // namespace sluice::journal
