#pragma once
// model/model.h: the whole engine once more, plain: what spec/semantics.md and spec/protocol.md say, without any cleverness.
//
// Place    driven by the same commands as the engine, and compared with it after each turn.
// Shapes   everything is found by looking at everything. Two things are taken from the engine: the numbers of leases, since in
//          which order queues are served within a turn is left open; the driver has seen to it that they rise. And the generator
//          behind the jitter, from the same seed.
// Threads  one. May be copied.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "corners.h"
#include "engine/now.h"
#include "state.h"
#include "told.h"
#include "wire/frames.h"

namespace sluice::model {

struct Options {
  Rules rules;  // of queues that do not say otherwise
  bool auto_create = true;
  std::uint64_t credit_messages_max = 65'535;
  std::uint64_t credit_bytes_max = 1ULL << 30;
  std::uint64_t window_messages = 65'536;
  std::uint64_t queues_max = 1'000'000;
  std::uint64_t consumers_max = 1'024;  // of a session
  std::uint64_t bindings_max = 1'000'000;
  std::uint64_t seed = 1;
};

class Model {
 public:
  Model(Options options, Corners& corners) : options_(std::move(options)), corners_(&corners), random_(options_.seed) {}

  void set_now(const engine::Now& now) { now_ = now; }
  std::uint64_t open_session(std::uint64_t session, const std::string& producer);
  void close_session(std::uint64_t session);
  void drain() { draining_ = true; }
  void publish(std::uint64_t session, const wire::Publish& frame);
  void refuse_publish(std::uint64_t session, std::uint64_t first_sequence, std::uint64_t count, std::uint64_t code);
  void consume(std::uint64_t session, const wire::Consume& frame);
  void cancel(std::uint64_t session, const wire::Cancel& frame);
  void settle(std::uint64_t session, const wire::Settle& frame);
  void request(std::uint64_t session, const wire::Request& frame);
  // What is due, then deliveries, then confirmations. `leases`: of the engine's deliveries, by consumer.
  void finish_turn(const std::map<ConsumerKey, Handed>& leases);

  Told told;  // since it was last taken

  // To look at.
  const std::map<std::string, Queue>& queues() const { return queues_; }
  const std::vector<Consumer>& consumers() const { return consumers_; }
  const std::vector<Lease>& leases() const { return leases_; }
  const std::map<std::uint64_t, Session>& sessions() const { return sessions_; }
  const Producer& producer(std::uint64_t session) const { return producers_.at(sessions_.at(session).producer); }
  // When something happens by itself: ends of leases, delays, times to live, waiting publishes.
  std::vector<std::uint64_t> timers() const;
  // Ends of windows of deduplication.
  std::vector<std::uint64_t> windows() const;
  wire::Map describe(const Queue& queue) const;
  wire::Map describe(const Queue& queue, const Message& message) const;
  wire::Array describe_consumers() const;
  wire::Array describe_bindings() const;
  // Counts of all queues that are or were.
  std::map<std::string, std::uint64_t> totals() const;

 private:
  struct Outcome {
    std::uint64_t code = 0;  // 0: all is well
    wire::Map result;
  };

  // publish.cpp
  void publish_one(std::uint64_t session, std::uint64_t sequence, const Publishing& publishing);
  std::vector<std::string> find_queues(const Publishing& publishing, std::uint64_t& code);
  // The queue that makes it wait, if one does; else it is decided.
  std::optional<std::string> decide(std::uint64_t session, std::uint64_t sequence, const Publishing& publishing,
                                    const std::vector<std::string>& queues, std::optional<std::uint64_t> turn_of);
  enum class Room { yes, no, wait };
  Room room_in(const Queue& queue, std::uint64_t bytes, std::optional<std::uint64_t> turn_of);
  void make_room(Queue& queue, std::uint64_t bytes);
  void enqueue(Queue& queue, std::uint64_t id, const Publishing& publishing);
  void answer(std::uint64_t session, std::uint64_t sequence, const Answer& answer);
  void refuse(std::uint64_t session, std::uint64_t sequence, ErrorCode code);
  std::vector<Key>* keys_of(const Publishing& publishing, std::uint64_t& window_ms);
  void wait(Queue& queue, Waiting waiting);
  void admit(const std::string& name);
  void time_out_waiting();
  void forget_waiting(std::uint64_t session);
  bool fits(const Queue& queue, std::uint64_t bytes) const;

  // messages.cpp
  Queue* find(const std::string& name);
  Queue* find_or_create(const std::string& name, ErrorCode& code);
  bool has_room_for_queue();
  bool has_room_for_binding();
  Queue& create(const std::string& name, const Rules& rules);
  std::uint64_t remove(const std::string& name);
  Message* message_at(Queue& queue, std::uint64_t position);
  void leave(Queue& queue, std::uint64_t position, const std::string& counter);
  void bury(Queue& queue, std::uint64_t position, const std::string& reason);
  void expire(Queue& queue, std::uint64_t position);
  void move(Queue& from, std::uint64_t position, Queue& to);
  void failed(Queue& queue, std::uint64_t position, std::optional<std::uint64_t> delay_ms);
  void drop_dead_letters(Queue& dead, std::uint64_t messages_max);
  bool is_expired(const Message& message) const { return message.expires_ms && *message.expires_ms <= now_.steady_ms; }

  // leases.cpp
  Lease* lease(std::uint64_t number);
  Lease take_lease(std::uint64_t number);
  std::uint64_t held(std::uint64_t consumer) const;
  Consumer& consumer(std::uint64_t key);
  Consumer* consumer(std::uint64_t session, std::uint64_t number);
  void settle_one(std::uint64_t session, const wire::Settlement& settlement, std::uint64_t number,
                  SettledFrame& answer);
  void grant(std::uint64_t session, const wire::Grant& grant);
  void holder_gone(std::uint64_t number);
  void lease_ended(std::uint64_t number);
  void end_solitude();
  Outcome add_consumer(std::uint64_t session, const wire::Consume& frame);
  void drop_consumer(std::uint64_t key);

  // turn.cpp
  void end_leases();
  void wake();
  void expire_due();
  void admit_waiting();
  void dispatch(Queue& queue);
  bool dispatch_one(Queue& queue);
  void hand(Queue& queue, Consumer& consumer, Message& message);
  void number_leases(const std::map<ConsumerKey, Handed>& leases);
  void confirm();

  // requests.cpp
  Outcome handle(const wire::Request& frame);
  Outcome declare(const wire::Map& arguments);
  Outcome edit(Queue& queue, const wire::Map& arguments);
  Outcome purge(Queue& queue);
  Outcome peek(const Queue& queue, const wire::Map& arguments) const;
  Outcome replay(Queue& queue, const wire::Map& arguments);
  Outcome bind(const std::string& verb, const wire::Map& arguments);

  void hit(Corner corner) { corners_->hit(corner); }

  Options options_;
  Corners* corners_;
  engine::Random random_;
  engine::Now now_;
  bool draining_ = false;
  std::map<std::string, Queue> queues_;
  std::map<std::string, std::uint64_t> retired_;  // counters of queues that are gone
  std::vector<Consumer> consumers_;               // in order of arrival
  std::vector<Lease> leases_;
  std::map<std::uint64_t, Session> sessions_;
  std::map<std::string, Producer> producers_;
  std::vector<Key> topic_keys_;
  std::vector<std::pair<ConsumerKey, Lease>> unnumbered_;  // handed in this turn
  std::uint64_t next_id_ = 1;
  std::uint64_t next_position_ = 1;
  std::uint64_t next_consumer_ = 1;
  std::uint64_t next_order_ = 1;
  std::uint64_t next_served_ = 1;
  std::uint64_t next_set_ = 1;
};

}  // namespace sluice::model
