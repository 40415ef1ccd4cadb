#pragma once
// engine/records.h: the outcomes that a journal must keep, in the order in which they happened.
//
// Place    engine -> [records] -> journal. A record states an outcome, never the command that caused it, so that replay
//          needs no old logic (spec/decisions/).
// Shapes   references are valid during the call only. What a record is about stands behind it already, but for `ended`.
// Source   spec/journal.md section 5.

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/message.h"
#include "engine/now.h"
#include "engine/queue.h"
#include "wire/frames.h"

namespace sluice::engine {

enum class Ended : std::uint8_t { acked, purged, dropped, expired };

// Why a lease ended without an ack.
enum class Cause : std::uint8_t { none, nack, expiry, disconnect, release, reject };

// What is known of a publish beside the messages that it became.
struct Publication {
  std::uint64_t producer = 0;  // number of a named one, 0: none
  std::uint64_t sequence = 0;  // its
  std::string_view topic;      // empty: it went to a queue
  std::string_view dedup_key;  // empty: none is remembered
};

class Records {
 public:
  virtual ~Records() = default;
  // Messages are known by a key, and may have their bodies on disk only.
  virtual bool keeps() const = 0;

  virtual void queue_created(Queue& queue) = 0;
  virtual void queue_changed(Queue& queue) = 0;  // policy, or pause
  virtual void queue_deleted(const Queue& queue) = 0;
  virtual void bound(const Queue& queue, std::string_view pattern) = 0;
  virtual void unbound(const Queue& queue, std::string_view pattern) = 0;

  // The copies of one publish, which share a body.
  virtual void published(std::span<Message* const> copies, const Publication& publication, const Now& now) = 0;
  virtual void delivered(const Message& message, LeaseId lease) = 0;
  virtual void returned(const Message& message, Cause cause, const Now& now) = 0;
  virtual void ended(const Message& message, Ended how) = 0;
  // One record moves a message, in either direction: it is never in both queues and never in neither.
  virtual void dead_lettered(const Message& message, Cause cause) = 0;
  virtual void replayed(const Message& message) = 0;

  virtual void producer_opened(std::uint64_t number, std::string_view name) = 0;
  // Two answers without a message behind them: the key was known, or the publish was refused.
  virtual void accepted(std::uint64_t producer, std::uint64_t sequence, MessageId id) = 0;
  virtual void refused(std::uint64_t producer, std::uint64_t sequence, const wire::ErrorBody& error) = 0;
  virtual void producer_forgotten(std::uint64_t number) = 0;
};

// Memory mode: there is nothing to come back to. Counts, so that a turn that changed something is known.
class NoRecords final : public Records {
 public:
  bool keeps() const override { return false; }
  void queue_created(Queue&) override { ++count_; }
  void queue_changed(Queue&) override { ++count_; }
  void queue_deleted(const Queue&) override { ++count_; }
  void bound(const Queue&, std::string_view) override { ++count_; }
  void unbound(const Queue&, std::string_view) override { ++count_; }
  void published(std::span<Message* const>, const Publication&, const Now&) override { ++count_; }
  void delivered(const Message&, LeaseId) override { ++count_; }
  void returned(const Message&, Cause, const Now&) override { ++count_; }
  void ended(const Message&, Ended) override { ++count_; }
  void dead_lettered(const Message&, Cause) override { ++count_; }
  void replayed(const Message&) override { ++count_; }
  void producer_opened(std::uint64_t, std::string_view) override { ++count_; }
  void accepted(std::uint64_t, std::uint64_t, MessageId) override { ++count_; }
  void refused(std::uint64_t, std::uint64_t, const wire::ErrorBody&) override { ++count_; }
  void producer_forgotten(std::uint64_t) override { ++count_; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

}  // namespace sluice::engine
