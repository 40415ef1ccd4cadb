#pragma once
// sim/disk_workers.h: the threads of a journal, as events of the simulated world: a write, a sync and a read take their time, and the
// loop goes on meanwhile.
//
// Threads  one.

#include <cstdint>
#include <memory>

#include "journal/file_journal.h"
#include "network.h"

namespace sluice::sim {

class DiskWorkers final : public journal::Workers {
 public:
  struct Speed {
    std::uint64_t write_us = 0;
    std::uint64_t sync_us = 0;
    std::uint64_t slow_until_us = 0;  // until then everything waits
  };
  DiskWorkers(World& world, Network& network, journal::FileJournal& journal, const Speed& speed)
      : world_(world), network_(network), journal_(journal), speed_(speed), alive_(std::make_shared<bool>(true)) {}
  ~DiskWorkers() override { *alive_ = false; }

  void writer_has_work() override;
  void reader_has_work() override;

 private:
  // Not when the journal is gone by then.
  void later(std::uint64_t us, void (DiskWorkers::*step)());
  void write();
  void sync();
  void read();
  std::uint64_t held_up(std::uint64_t us) const;

  World& world_;
  Network& network_;
  journal::FileJournal& journal_;
  const Speed& speed_;
  std::shared_ptr<bool> alive_;
  bool writing_ = false;
  bool more_to_write_ = false;
  bool wrote_ = false;
  bool reading_ = false;
};

}  // namespace sluice::sim
