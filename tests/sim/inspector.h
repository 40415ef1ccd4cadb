#pragma once
// sim/inspector.h: a client that does nothing wrong. It measures that others' troubles are not its own, and in the end takes out
// what is left in the queues and says when they are empty.

#include <map>
#include <set>
#include <string>

#include "client.h"

namespace sluice::sim {

class Inspector final : public Client {
 public:
  Inspector(Stage& stage, std::string name, std::uint64_t salt);
  void begin_draining();
  // Somebody still has something to say: what was seen does not count.
  void look_again();
  // Nothing is in any queue, and the credits were compared.
  bool done() const { return done_; }
  const std::string& left() const { return left_; }

 private:
  void on_open(const wire::Welcome& welcome) override;
  void on_closed() override;
  void on_frame(const wire::BrokerFrame& frame) override;
  void probe();
  void list();
  void take_list(const wire::Map& result);
  void ack(const wire::Deliver& deliver);

  bool draining_ = false;
  bool done_ = false;
  std::uint64_t empty_lists_ = 0;
  std::string left_ = "nothing was listed";
  std::uint64_t probe_ = 0;  // the request that waits for an answer
  std::uint64_t probe_since_us_ = 0;
  std::uint64_t list_ = 0;
  std::uint64_t compare_ = 0;
  std::set<std::string> consumed_;
  std::uint64_t next_consumer_ = 1;
};

}  // namespace sluice::sim
