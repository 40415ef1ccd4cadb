#pragma once
// durability/restorer.h: the state that a journal's records tell, before there is an engine to hold it.
//
// Place    journal -> [restorer] -> engine. Records are applied in order, then finish() hands everything over.
// Errors   one line for people: records that contradict each other, which no checksum can see.
// Threads  one.
// Owns     what it has read, until finish().
// Source   spec/journal.md section 5.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "durability/message_table.h"
#include "durability/recorder.h"
#include "engine/engine.h"
#include "journal/journal.h"
#include "record/decode.h"

namespace sluice::durability {

struct Restored {
  std::uint64_t queues = 0;
  std::uint64_t messages = 0;
  std::uint64_t returned = 0;  // leases that were open
};

class Restorer {
 public:
  // `memory_bytes`: bodies beyond it stay on disk.
  explicit Restorer(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}
  ~Restorer();
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  // The records of the turns `first` to `last`, whose first byte stands at `base`.
  std::optional<std::string> apply(std::span<const std::byte> records, journal::Location base, Sequence first);
  // The engine gets all of it, and the recorder what it needs to go on. REQUIRES: both are new. Once.
  tl::expected<Restored, std::string> finish(engine::Engine& engine, Recorder& recorder, const engine::Now& now);

 private:
  struct Producer {
    std::string name;
    std::uint64_t last_sequence = 0;
    Sequence home{};
    std::deque<wire::Accepted> accepted;
    std::deque<wire::Refused> refused;

    void forget_old();
  };
  struct Key {
    std::uint64_t queue;
    std::uint64_t id;
    std::uint64_t at_ms;
    std::string key;
  };
  struct ReadQueue {
    std::unique_ptr<engine::Queue> queue;
    std::set<std::string, std::less<>> patterns;
    bool known = false;  // its full record was read
  };

  void read(const record::Marks& marks);
  void read(const record::Queue& queue);
  void read(const record::QueueDeleted& deleted);
  void read(const record::Bound& bound);
  void read(const record::Unbound& unbound);
  void read(const record::Published& published);
  void read(const record::Message& message);
  void read(const record::Delivered& delivered);
  void read(const record::Ended& ended);
  void read(const record::Returned& returned);
  void read(const record::DeadLettered& dead);
  void read(const record::Replayed& replayed);
  void read(const record::Producer& producer);
  void read(const record::Refused& refused);
  void read(const record::Accepted& accepted);
  void read(const record::ProducerGone& gone);
  void read(const record::DedupKey& key);
  void read(const record::Opened& opened);
  void read(const record::Closed& closed);

  ReadQueue& queue_of(std::uint64_t number);
  engine::Message& make(const record::Body& body, engine::Body*& shared);
  void place(engine::Message& message, const record::Copy& copy, Sequence home);
  void forget(engine::Message& message);
  void count(engine::Message& message, record::Cause cause);
  void remember_accepted(std::uint64_t producer, std::uint64_t sequence, std::uint64_t id, std::uint64_t count);
  void end_leases();
  void drop_temporary_queues();
  std::optional<std::string> hand_over_queues(engine::Engine::Parts& parts, Recorder& recorder);
  void hand_over_messages(engine::Engine::Parts& parts, Recorder& recorder, const engine::Now& now);
  void hand_over(engine::Message& message, engine::Engine::Parts& parts, const engine::Now& now);
  void hand_over_producers(engine::Engine::Parts& parts);
  void hand_over_keys(engine::Engine::Parts& parts, const engine::Now& now);

  std::uint64_t memory_bytes_;
  std::uint64_t bodies_bytes_ = 0;  // in memory
  journal::Location base_{};        // of the records that are being read
  Sequence home_{};
  MessageTable messages_;
  std::map<std::uint64_t, ReadQueue> queues_;
  ReadQueue* recent_queue_ = nullptr;
  std::uint64_t recent_queue_number_ = 0;
  std::map<std::uint64_t, Producer> producers_;
  std::vector<Key> keys_;
  std::vector<std::uint64_t> leased_;    // keys that were handed out; those still leased are among them
  std::vector<engine::Message*> moved_;  // of finish(): their position is not their key
  std::uint64_t returned_ = 0;
  record::Marks next_{1, 1, 1, 1, 1};
  Sequence marks_home_{};
};

}  // namespace sluice::durability
