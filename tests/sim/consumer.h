#pragma once
// sim/consumer.h: takes messages and does with them what workers do: well, badly, late, or not at all.

#include <map>
#include <string>
#include <vector>

#include "client.h"

namespace sluice::sim {

class Worker final : public Client {
 public:
  Worker(Stage& stage, std::string name, std::uint64_t salt);

 private:
  struct Held {
    std::uint64_t consumer = 0;
    std::uint64_t bytes = 0;
    bool poison = false;
  };

  void on_open(const wire::Welcome& welcome) override;
  void on_closed() override;
  void on_frame(const wire::BrokerFrame& frame) override;
  void consume();
  void tick();
  void take(const wire::Deliver& deliver);
  void settle_later(std::uint64_t first, std::uint64_t last, std::uint64_t lease_ms);
  void settle(std::uint64_t first, std::uint64_t last, std::uint64_t session);
  wire::Settlement draw(std::uint64_t first, std::uint64_t last);
  void grant(std::uint64_t first, std::uint64_t last, wire::Settle& frame);

  std::uint64_t credit_messages_ = 1;
  std::uint64_t credit_bytes_ = 1;
  std::uint64_t slowness_ = 0;  // percent of the lease that work takes at most
  std::uint64_t ack_percent_ = 80;
  std::uint64_t next_consumer_ = 1;
  std::map<std::uint64_t, bool> consumers_;  // by number: open
  std::map<std::uint64_t, Held> held_;       // by lease
  std::uint64_t forgotten_lease_ = 0;        // of an earlier session
};

}  // namespace sluice::sim
