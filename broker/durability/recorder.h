#pragma once
// durability/recorder.h: what happened in the engine, as the bytes of a turn's records.
//
// Place    engine -> [recorder] -> journal.
// Shapes   what follows each other (messages published to a queue, handed out, acked) becomes one record.
// Threads  one.
// Owns     the table of messages by key, and that of queues by number; not what they point to.
// Source   spec/journal.md section 5.

#include <cstdint>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/ids.h"
#include "durability/message_table.h"
#include "engine/engine.h"
#include "engine/records.h"
#include "journal/journal.h"
#include "record/encode.h"

namespace sluice::durability {

class Recorder final : public engine::Records {
 public:
  // REQUIRES (all below): bind() was called, but for an engine's constructor.
  void bind(engine::Engine& engine);

  bool keeps() const override { return true; }
  void queue_created(engine::Queue& queue) override;
  void queue_changed(engine::Queue& queue) override;
  void queue_deleted(const engine::Queue& queue) override;
  void bound(const engine::Queue& queue, std::string_view pattern) override;
  void unbound(const engine::Queue& queue, std::string_view pattern) override;
  void published(std::span<engine::Message* const> copies, const engine::Publication& publication,
                 const engine::Now& now) override;
  void delivered(const engine::Message& message, LeaseId lease) override;
  void returned(const engine::Message& message, engine::Cause cause, const engine::Now& now) override;
  void ended(const engine::Message& message, engine::Ended how) override;
  void dead_lettered(const engine::Message& message, engine::Cause cause) override;
  void replayed(const engine::Message& message) override;
  void producer_opened(std::uint64_t number, std::string_view name) override;
  void accepted(std::uint64_t producer, std::uint64_t sequence, MessageId id) override;
  void refused(std::uint64_t producer, std::uint64_t sequence, const wire::ErrorBody& error) override;
  void producer_forgotten(std::uint64_t number) override;

  // Full records of what lives, as it is now.
  void write_marks();
  void write_queue(engine::Queue& queue);  // and its bindings
  // Copies of one body, which the caller has at hand.
  void write_message(std::span<engine::Message* const> copies, std::string_view headers, std::string_view payload,
                     const engine::Now& now);
  void write_producer(std::uint64_t number, engine::Producer& producer);
  void write_dedup_key(std::uint64_t queue, std::string_view key, MessageId id, std::uint64_t at_ms);
  void write_opened(const engine::Now& now);
  void write_closed(const engine::Now& now);

  // The turn's records; nothing more is added before appended().
  std::span<const std::byte> finish_turn();
  // Of closed records; one that is being joined together is not among them.
  std::size_t bytes() const { return writer_.size(); }
  // They stand in the journal now. `next`: the sequence of the turn that begins.
  void appended(const journal::Appended& place);
  // The turn that is being recorded.
  Sequence turn() const { return turn_; }
  void begin_at(Sequence turn) { turn_ = turn; }

  MessageTable& messages() { return messages_; }
  engine::Queue* find_queue(std::uint64_t number);
  void add_queue(engine::Queue& queue) { queues_.emplace(queue.number, &queue); }
  Sequence marks_home() const { return marks_home_; }
  void set_marks_home(Sequence home) { marks_home_ = home; }
  // Of messages that were published in this turn, or came back from their holders: nobody needs their bodies for the moment.
  const std::vector<std::uint64_t>& loose_keys() const { return loose_keys_; }

 private:
  enum class Run : std::uint8_t { none, published, delivered, ended };
  struct PublishedRun {
    std::uint64_t queue = 0;
    std::uint64_t next_key = 0;
    std::uint64_t next_id = 0;
    std::uint64_t published_ms = 0;
    std::uint64_t producer = 0;
    std::uint64_t next_sequence = 0;
  };
  struct KeyRun {
    std::uint64_t first_key = 0;
    std::uint64_t count = 0;
    std::uint64_t first_lease = 0;
    engine::Ended how = engine::Ended::acked;
  };
  // A body that was written in this turn: where it will stand is known when the turn is appended.
  struct Placed {
    std::uint64_t key;
    std::size_t offset;
  };

  void end_run();
  // Numbers that no record shows may not be given again after a restart either.
  void reserve_id(MessageId id);
  void reserve_lease(LeaseId lease);
  void publish_unkept(const engine::Message& message, const engine::Publication& publication, const engine::Now& now);
  bool continues(const engine::Message& message, const engine::Publication& publication) const;
  void publish_in_run(engine::Message& message, const engine::Publication& publication, const engine::Now& now);
  void publish_alone(std::span<engine::Message* const> copies, const engine::Publication& publication,
                     const engine::Now& now);

  engine::Engine* engine_ = nullptr;
  record::RecordWriter writer_;
  Run run_ = Run::none;
  PublishedRun published_;
  KeyRun keys_;
  std::vector<Placed> placed_;
  std::vector<std::uint64_t> loose_keys_;
  std::vector<engine::Message*> kept_;  // of the copies that are being recorded
  std::vector<record::Copy> copies_;
  MessageTable messages_;
  absl::flat_hash_map<std::uint64_t, engine::Queue*> queues_;  // by number; never iterated
  Sequence turn_{1};
  Sequence marks_home_{};
  std::uint64_t reserved_id_ = 0;  // some record says that numbers below were given
  std::uint64_t reserved_lease_ = 0;
};

}  // namespace sluice::durability
