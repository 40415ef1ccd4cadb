#pragma once
// sim/broker.h: the broker under test: the real loop, sessions, engine, outbox, codec and journal, built over a simulated world and
// thrown away when it dies. The disk outlives it.
//
// Owns     Server, journal and disk. Borrows what is around them.

#include <memory>

#include "disk_workers.h"
#include "log/logger.h"
#include "network.h"
#include "oracle.h"
#include "server/server.h"
#include "settings.h"
#include "sim_disk.h"

namespace sluice::sim {

enum class Death : std::uint8_t {
  killed,     // the process; what was written is there
  power_cut,  // what was not synced is there or not
};

class BrokerUnderTest {
 public:
  BrokerUnderTest(World& world, Network& network, Oracle& oracle, const Settings& settings);
  ~BrokerUnderTest();

  // False: the disk failed meanwhile, as it was told to. A journal that is refused is a Violation.
  bool start();
  bool runs() const { return server_ != nullptr; }
  // REQUIRES (all): runs().
  server::Server::Next turn();
  void stop() { server_->stop(); }
  void die(Death death);
  // After the last turn of a drain.
  void close();

  test::SimDisk& disk() { return disk_; }
  DiskWorkers::Speed& disk_speed() { return speed_; }
  // A failure of the disk is under way, so that of the journal is expected.
  void expect_failure() { failure_expected_ = true; }
  bool failure_expected() const { return failure_expected_; }
  std::string failure() const { return server_->failure().value_or("none"); }

 private:
  bool recover();
  void note_segments();

  World& world_;
  Network& network_;
  Oracle& oracle_;
  const Settings& settings_;
  SimClock clock_;
  log::Logger logger_;
  test::SimDisk disk_;
  DiskWorkers::Speed speed_;
  bool failure_expected_ = false;
  bool closed_clean_ = false;
  std::uint64_t journal_bytes_ = 0;
  std::unique_ptr<journal::Journal> journal_;
  journal::FileJournal* file_ = nullptr;  // the same, if it is one
  std::unique_ptr<DiskWorkers> workers_;
  std::unique_ptr<server::Server> server_;
};

}  // namespace sluice::sim
