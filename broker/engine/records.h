#pragma once
// engine/records.h: the outcomes that a journal must keep, in the order in which they happened.
//
// Place    engine -> [records] -> journal. A record states an outcome, never the command that caused it, so that replay
//          needs no old logic (spec/decisions/).
// Shapes   references are valid during the call only.

#include <cstdint>
#include <string_view>

#include "engine/message.h"
#include "engine/queue.h"

namespace sluice::engine {

enum class Ended : std::uint8_t { acked, purged, dropped, expired };

class Records {
 public:
  virtual ~Records() = default;
  virtual void queue_created(const Queue& queue) = 0;
  virtual void queue_changed(const Queue& queue) = 0;  // policy, or pause
  virtual void queue_deleted(const Queue& queue) = 0;
  virtual void enqueued(const Message& message, std::uint64_t due_ms) = 0;  // due_ms: wall, 0 = at once
  virtual void delivered(const Message& message, LeaseId lease) = 0;
  virtual void returned(const Message& message, std::uint64_t due_ms) = 0;  // with its counters as they are now
  virtual void ended(const Message& message, Ended how) = 0;
  // One record moves a dead letter, in either direction: it is never in both queues and never in neither.
  virtual void moved(const Message& message, const Queue& from, const Queue& to) = 0;
};

// Memory mode: there is nothing to come back to. Counts, so that a turn that changed something is known.
class NoRecords final : public Records {
 public:
  void queue_created(const Queue&) override { ++count_; }
  void queue_changed(const Queue&) override { ++count_; }
  void queue_deleted(const Queue&) override { ++count_; }
  void enqueued(const Message&, std::uint64_t) override { ++count_; }
  void delivered(const Message&, LeaseId) override { ++count_; }
  void returned(const Message&, std::uint64_t) override { ++count_; }
  void ended(const Message&, Ended) override { ++count_; }
  void moved(const Message&, const Queue&, const Queue&) override { ++count_; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

}  // namespace sluice::engine
