#pragma once
// durability/keeper.h: everything that makes an engine's state outlive its process, as the loop sees it.
//
// Place    server/turn -> [keeper] -> journal.
// Errors   those of the journal, which says them itself.
// Threads  one.
// Owns     recorder, pager, compactor; borrows engine and journal, which outlive it.
// Source   spec/journal.md; spec/semantics.md "Durability".

#include <cstdint>

#include "durability/compactor.h"
#include "durability/pager.h"
#include "durability/recorder.h"
#include "durability/restorer.h"
#include "engine/engine.h"
#include "journal/journal.h"

namespace sluice::durability {

class Keeper {
 public:
  // `recorder`: what the engine was made with.
  Keeper(std::uint64_t memory_bytes, engine::Engine& engine, Recorder& recorder, journal::Journal& journal);

  // Before the first turn: the engine gets what the journal told, and the journal is told of the opening.
  tl::expected<Restored, std::string> begin(Restorer& restorer, const engine::Now& now);
  // What came from the journal since the last turn.
  void begin_turn(const engine::Now& now);
  // After the engine: the turn's records are appended. True: there is more to do at once.
  bool end_turn(const engine::Now& now);
  // The last turn.
  void close(const engine::Now& now);

  // See Pager::failure().
  const std::optional<std::string>& failure() const { return pager_.failure(); }
  // By compaction.
  std::uint64_t parts_released() const { return compactor_.parts_released(); }

 private:
  void append();

  engine::Engine& engine_;
  Recorder& recorder_;
  journal::Journal& journal_;
  Pager pager_;
  Compactor compactor_;
};

}  // namespace sluice::durability
