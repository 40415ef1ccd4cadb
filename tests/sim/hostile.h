#pragma once
// sim/hostile.h: a peer that is no client: bytes at random, frames with changed bytes, forged leases, credit without end.

#include <string>

#include "client.h"

namespace sluice::sim {

class Hostile final : public Client {
 public:
  Hostile(Stage& stage, std::string name, std::uint64_t salt);
  bool idle() const override { return true; }

 private:
  void on_open(const wire::Welcome& welcome) override;
  void tick();
  std::string broken_frame();

  std::uint64_t marked_ = 0;
};

}  // namespace sluice::sim
