#pragma once
// durability/compactor.h: makes the oldest part of the journal free, by writing again what still lives in it.
//
// Place    journal -> [compactor] -> recorder -> journal.
// Bounds   kBytesATurn of the oldest part a turn of the loop: nobody waits for it.
// Threads  one.
// Source   spec/journal.md section 6.

#include <cstdint>
#include <optional>
#include <string>

#include "durability/pager.h"
#include "durability/recorder.h"
#include "engine/engine.h"
#include "journal/journal.h"
#include "record/decode.h"

namespace sluice::durability {

class Compactor {
 public:
  Compactor(engine::Engine& engine, Recorder& recorder, Pager& pager, journal::Journal& journal)
      : engine_(engine), recorder_(recorder), pager_(pager), journal_(journal) {}

  static bool is_ticket(std::uint64_t ticket) { return ticket % 2 == 1; }
  // REQUIRES: the ticket is one of the compactor's.
  void arrived(journal::Fetched&& fetched);
  // Before the turn's records are appended. True: it has more to do at once.
  bool step(const engine::Now& now);

  std::uint64_t parts_released() const { return parts_released_; }

 private:
  enum class State : std::uint8_t { idle, reading, writing, counting, syncing };
  // Over all that was there when it began.
  struct Pass {
    std::optional<Sequence> until;
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
  };

  bool count_again();
  bool wait_until_safe();
  bool worth_it();
  std::uint64_t live_bytes() const;
  std::uint64_t bytes_allowed(const journal::Part& oldest) const;
  bool short_of_room() const;
  bool holds_living(const record::Record& record);
  void ask();
  // True: the batch is done.
  bool write_again(const engine::Now& now);
  void keep(const record::Record& record, const engine::Now& now);
  void keep_one(const record::Body& body, std::uint64_t key, const engine::Now& now);
  void keep_copies(const record::Message& message, const engine::Now& now);
  void keep_key(std::uint64_t queue, std::string_view key, std::uint64_t id, std::uint64_t published_ms,
                const engine::Now& now);
  bool is_home(Sequence home) const { return home >= batch_.first && home <= batch_.last; }
  void finish_part();
  void end_pass();

  engine::Engine& engine_;
  Recorder& recorder_;
  Pager& pager_;
  journal::Journal& journal_;
  State state_ = State::idle;
  journal::Fetched batch_;
  std::optional<record::RecordReader> reader_;  // of batch_
  std::optional<record::Record> next_;          // read, and waits for room
  bool waits_for_room_ = false;
  std::uint64_t written_ = 0;        // bytes written again for this part
  std::string counted_up_to_;        // name of a queue
  std::optional<Sequence> safe_at_;  // all that was written again is durable then
  std::uint64_t reads_before_ = 0;   // the pager's tickets from before that may still read the part
  Pass pass_;
  std::uint64_t not_before_bytes_ = 0;  // of the journal: what was gained last was not worth it
  std::uint64_t next_ticket_ = 1;
  std::uint64_t parts_released_ = 0;
};

}  // namespace sluice::durability
