#pragma once
// sim/operator.h: who declares the queues, and then looks, edits, pauses, purges, deletes, binds and replays.

#include <string>

#include "client.h"

namespace sluice::sim {

class Operator final : public Client {
 public:
  Operator(Stage& stage, std::string name, std::uint64_t salt);
  // All queues are there: others may begin.
  bool ready() const { return ready_; }
  // Faults have ended: nothing may stay paused.
  void resume_all();

 private:
  void on_open(const wire::Welcome& welcome) override;
  void on_frame(const wire::BrokerFrame& frame) override;
  void declare_all();
  void tick();
  void ask(std::string verb, wire::Map arguments);
  void ask_something();
  std::string a_queue();

  bool ready_ = false;
  std::uint64_t last_setup_request_ = 0;
};

}  // namespace sluice::sim
