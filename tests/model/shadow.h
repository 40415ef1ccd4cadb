#pragma once
// model/shadow.h: a journal behind the engine that is driven, and the question whether it would bring the same state back.
//
// Shapes   what the engine records goes to a real journal on a disk in memory, with segments so small that compaction never rests. At any
//          moment a copy of that disk can be read into a second engine, which must look like the first one after a restart.
// Source   invariants S15 (recovery from any state of compaction equals full replay), S10, S13.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "durability/keeper.h"
#include "engine/engine.h"
#include "journal/file_journal.h"
#include "sim_disk.h"
#include "tee.h"

namespace sluice::model {

class Shadow {
 public:
  Shadow();

  // What the engine is to be made with: tells `seen` as well.
  engine::Records& records(engine::Records& seen);
  void begin(engine::Engine& engine, const engine::Now& now);
  void begin_turn(const engine::Now& now);
  void end_turn(const engine::Now& now);
  // Throws Mismatch. `producers`: names whose sequences are compared. `times`: the wall clock was not set since the engine began, so
  // that due times are the same too.
  void check(engine::Engine& engine, const engine::EngineOptions& options, const std::vector<std::string>& producers,
             bool times, const engine::Now& now);

  std::uint64_t parts_released() const { return parts_; }

 private:
  test::SimDisk disk_;
  std::unique_ptr<journal::FileJournal> journal_;
  durability::Recorder recorder_;
  std::unique_ptr<Tee> tee_;
  std::unique_ptr<durability::Keeper> keeper_;
  std::uint64_t parts_ = 0;
};

}  // namespace sluice::model
