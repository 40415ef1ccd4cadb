#pragma once
// model/invariants.h: properties that hold whatever the model says, each checked by its name from commands and effects alone.
//
// S3 conservation, S5 payloads as published, S6 one live lease a message and rising numbers, S7 a stale settlement changes nothing,
// S8 no lease ends before the end that its holder was told, S9 credit is never exceeded, S10 attempts never fall, S12 first
// deliveries follow the order of publishing, S13 one enqueue a sequence or key, S14 all bound queues or none, S24 nothing before
// its due time nor after its expiry.
//
// Errors   throws Mismatch, whose text begins with the name.
// Threads  one.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "engine/now.h"
#include "generator.h"
#include "recorder.h"

namespace sluice::model {

class Invariants {
 public:
  Invariants(const Generator& generator, Options options) : generator_(generator), options_(std::move(options)) {}

  // A command was carried out; `told` is that of the turn so far, `entered` what entered queues by this command.
  void after(const Command& command, const Told& told, const std::vector<Entered>& entered, const engine::Now& now);
  // The turn is over.
  void after_turn(const Told& told, const std::vector<Entered>& entered, const engine::Now& now);
  // queue.list
  static void check_conservation(const wire::Array& queues);

 private:
  struct Live {
    std::uint64_t session = 0;
    std::uint64_t consumer = 0;
    std::uint64_t position = 0;
    std::uint64_t ends_ms = 0;
  };
  struct Credit {
    std::string queue;
    std::uint64_t messages = 0;
    std::int64_t bytes = 0;
    bool owns_queue = false;
  };
  struct Met {  // of a message in its place
    std::uint64_t attempts = 0;
    std::uint64_t count = 0;
  };

  void note_command(const Command& command, const Told& told, const engine::Now& now);
  void after_settle(std::uint64_t session, const wire::Settle& frame, const Told& told, const engine::Now& now);
  void after_request(const wire::Request& frame, const Replied& reply);
  void note_entered(const std::vector<Entered>& entered, const engine::Now& now);
  void check_lost(const Told& told, const engine::Now& now);
  void check_closed(const Told& told);
  void check_handed(const Told& told, const engine::Now& now);
  void check_message(const Delivered& message, const engine::Now& now);
  void check_order(const Told& told);
  void check_confirmed(const Told& told);
  void check_fan_out();
  std::set<std::string> bound(const std::string& topic) const;
  void check_key(const Sent& message, const Entered& entered, const engine::Now& now);
  void forget_queue(const std::string& queue);
  void forget_keys(const std::string& queue);
  const Sent& sent(const std::string& payload) const;

  const Generator& generator_;
  Options options_;
  std::map<std::uint64_t, Live> live_;               // by lease
  std::map<std::uint64_t, std::uint64_t> lease_of_;  // by position
  std::uint64_t last_lease_ = 0;
  std::map<ConsumerKey, Credit> credits_;
  std::map<std::uint64_t, Met> met_;                // by position
  std::map<std::uint64_t, std::uint64_t> due_;      // by position
  std::map<std::uint64_t, std::uint64_t> expires_;  // by position: those with a time to live of their own
  std::set<std::uint64_t> published_;               // ids
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> newest_first_;  // by queue and priority: position
  std::map<std::uint64_t, std::string> producers_;                               // by session
  std::map<std::pair<std::string, std::uint64_t>, Answer> answers_;              // by producer and sequence
  std::map<std::string, std::set<std::string>> patterns_;                        // by queue
  struct Copies {
    std::set<std::string> wanted;
    std::set<std::string> got;
  };
  std::map<std::uint64_t, Copies> copies_;  // of topic publishes of this turn, by id
  struct KeyUse {
    std::uint64_t id = 0;
    std::uint64_t at_ms = 0;
  };
  std::map<std::tuple<bool, std::string, std::string>, KeyUse> keys_;  // by kind of target, target and key
  std::set<std::uint64_t> lost_;                                       // of this turn, looked at already
  std::multiset<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> closed_;
};

}  // namespace sluice::model
