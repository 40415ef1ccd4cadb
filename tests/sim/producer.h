#pragma once
// sim/producer.h: publishes to queues and topics; one with a name sends again what was not answered when its connection ended.

#include <map>
#include <string>

#include "client.h"

namespace sluice::sim {

class Producer final : public Client {
 public:
  Producer(Stage& stage, std::string name, std::uint64_t salt, bool named);
  bool idle() const override { return open() && unconfirmed_.empty(); }

 private:
  wire::Hello hello() override;
  void on_open(const wire::Welcome& welcome) override;
  void on_closed() override;
  void on_frame(const wire::BrokerFrame& frame) override;

  void tick();
  void publish();
  Sent& draw(const std::string& target, bool topic);
  void send_messages(std::uint64_t first, const std::vector<Sent*>& messages);
  void send_again();

  std::string identity_;  // 16 bytes, or empty
  std::uint64_t next_sequence_ = 1;
  std::uint64_t window_ = 1;
  bool careless_ = false;                       // takes no notice of the window now and then
  std::map<std::uint64_t, Sent*> unconfirmed_;  // by sequence
};

}  // namespace sluice::sim
