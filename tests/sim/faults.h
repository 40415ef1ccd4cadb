#pragma once
// sim/faults.h: makes the faults that the seed switched on, at random times, until it is told to stop.

#include <functional>
#include <vector>

#include "broker.h"
#include "client.h"

namespace sluice::sim {

class Faults {
 public:
  Faults(Stage& stage, BrokerUnderTest& broker, std::vector<Client*> victims);
  void begin();
  // What lasts is undone.
  void end();
  // How the broker is to die when it is interrupted next.
  Death death() const { return death_; }

 private:
  // `what` again and again, at times drawn around `every_us`, if the fault is on.
  void repeat(Mark fault, std::uint64_t every_us, std::function<bool()> what);
  Client& a_client() { return *victims_[random_.below(victims_.size())]; }
  bool stop_reading();
  bool storm();
  bool stall();
  bool step_wall();
  void begin_disk();
  bool kill(Death death, std::uint64_t after_sends);
  bool fill_disk();
  bool fail_disk(test::Call call, int number);
  bool slow_disk();
  bool cut_power_at_disk_call();

  Stage& stage_;
  World& world_;
  Random random_;
  BrokerUnderTest& broker_;
  std::vector<Client*> victims_;
  Death death_ = Death::killed;
  bool ended_ = false;
};

}  // namespace sluice::sim
