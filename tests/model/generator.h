#pragma once
// model/generator.h: a configuration and commands, all drawn from one seed.
//
// Shapes   limits, times and names are few and small, so that corners are met often. What is drawn depends on the model's state
//          (which leases live, what is due next) and on nothing else.
//          A plain seed leaves out what came to the model later (a second stream of chance draws that), so that the known seeds
//          still stand for what they once found.
// Threads  one.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command.h"
#include "engine/random.h"
#include "model.h"

namespace sluice::model {

// A message as it was first sent; its payload begins with its place in Generator::sent().
struct Sent {
  std::string payload;
  std::string target;
  bool topic = false;
  std::uint64_t delay_ms = 0;
  std::uint64_t ttl_ms = 0;
  std::string key;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed);

  Options options() const { return options_; }
  static std::vector<std::string> producers();
  Command next(const Model& model);
  bool turn_ends() { return chance(turn_percent_); }
  // How much time goes by until the next turn.
  std::uint64_t pause_ms(const Model& model, std::uint64_t now_ms);
  // How much time went by within the turn, since the command before.
  std::uint64_t lag_ms();
  // By how much somebody sets the wall clock between two turns.
  std::int64_t wall_step_ms();

  const std::vector<Sent>& sent() const { return sent_; }
  static std::size_t serial_of(const std::string& payload) { return static_cast<std::size_t>(std::stoull(payload)); }
  std::uint64_t below(std::uint64_t limit) { return random_.next() % limit; }

 private:
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  // Of the second stream; 0 and false in a plain seed.
  std::uint64_t more_below(std::uint64_t limit) { return plain_ ? 0 : more_random_.next() % limit; }
  bool more_chance(std::uint64_t percent) { return !plain_ && more_random_.next() % 100 < percent; }
  void draw_more();
  template <class T, std::size_t N>
  const T& one_of(const T (&items)[N]) {
    return items[below(N)];
  }
  std::uint64_t a_session(const Model& model);
  std::string a_queue(const Model& model);
  std::string a_pattern();
  wire::Map a_policy(std::uint64_t percent);

  Command open();
  Command publish(const Model& model);
  Command consume(const Model& model);
  Command cancel(const Model& model);
  Command settle(const Model& model);
  void add_settlement(const Model& model, Command& command, wire::Settle& frame);
  void add_grant(const Model& model, std::uint64_t session, wire::Settle& frame);
  Command request(const Model& model);
  wire::PublishMessage message(Command& command, const std::string& target, bool topic);

  engine::Random random_;
  engine::Random more_random_;
  bool plain_ = false;
  std::uint64_t drain_at_ = 0;  // the command; 0: never
  bool twins_ = false;          // queues and their dead letters are often bound together
  Options options_;
  std::vector<std::string> names_;
  std::uint64_t sessions_max_ = 0;
  std::uint64_t turn_percent_ = 0;
  std::uint64_t delay_percent_ = 0;
  std::uint64_t ttl_percent_ = 0;
  std::uint64_t key_percent_ = 0;
  std::uint64_t topic_percent_ = 0;
  std::uint64_t priorities_ = 0;
  std::uint64_t weights_[8] = {};  // of the actions, in the order of next()
  std::uint64_t commands_ = 0;
  std::uint64_t next_session_ = 1;
  std::uint64_t next_request_ = 1;
  std::uint64_t next_verb_ = 0;
  std::vector<Sent> sent_;
};

}  // namespace sluice::model
