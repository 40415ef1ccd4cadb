#pragma once
// clients/cpp/io_loop.h: the I/O thread: connects, keeps the session alive, moves frames.
//
// Place    publisher, requests, consumers -> [I/O loop] -> socket, and back.
// Threads  run() is the thread; stop(), wait_first() any.
//
//              HELLO             WELCOME
//   waiting ------------> greeting ------> open        waiting: for the delay before the next try
//      ^---------------------'---------------'         ended: for good; the parts have been told why
//                      lost

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "callbacks.h"
#include "connection.h"
#include "consumer_table.h"
#include "liveness.h"
#include "publisher.h"
#include "requests.h"
#include "sluice/client.h"
#include "wake.h"

namespace sluice::internal {

class IoLoop {
 public:
  struct Parts {
    std::shared_ptr<Wake> wake;
    std::shared_ptr<Callbacks> callbacks;
    Publisher& publisher;
    Requests& requests;
    ConsumerTable& consumers;
  };

  IoLoop(std::string url, const ClientOptions& options, Parts parts);

  void run();
  // Sends what is left, says BYE and ends.
  void stop(TimePoint deadline);
  // Until there has been a session. Throws why there was none.
  void wait_first(Milliseconds timeout);
  void on_state(Client::StateCallback callback);
  // After run(): the last state, if it was not told yet.
  void tell_closed();

 private:
  enum class Phase { waiting, greeting, open, ended };

  void turn();
  void begin_try(TimePoint now);
  void lose(const std::string& why);
  void fail(const ClientError& error);
  void tell_state(ConnectionState state, const std::string& why);
  void watch_connection(TimePoint now);
  void sleep(TimePoint now);
  void say_goodbye();

  bool receive();
  void take_frame(Message& message);
  void take(const wire::Heartbeat&) {}
  void take(const wire::Bye& bye);
  void take(wire::ErrorFrame& error);
  void take(const wire::Welcome& welcome);
  void take(const wire::Confirm& confirm);
  void take(wire::Reply& reply);
  void take(const wire::Deliver& deliver);
  void take(const wire::LeaseLost& lost);
  void take(const wire::ConsumerClosed& closed);
  void take(const wire::Settled& settled);
  void take(const wire::Draining&) {}
  void take_deliver(Message& message);
  ConsumerCore* find_consumer(std::uint64_t number);

  void send(const wire::ClientFrame& frame);
  template <class Frame>
  void send_frame(const Frame& frame);
  void step_consumers();
  void send_all(TimePoint now);
  void send_settlements(TimePoint now, bool everything);
  void send_settle(SettleBatch batch);

  const std::string url_;
  const ClientOptions options_;
  const Parts parts_;
  std::string producer_;  // 16 bytes
  std::minstd_rand random_;

  std::optional<Connection> connection_;  // lives on the I/O thread
  Message received_;
  Phase phase_ = Phase::waiting;
  Liveness liveness_;
  TimePoint wake_at_{};  // when something is due
  TimePoint next_try_{};
  TimePoint greeting_ends_{};
  TimePoint opened_at_{};
  TimePoint without_broker_since_{};
  Milliseconds delay_;  // before the next try
  bool had_session_ = false;
  bool consumed_lately_ = false;              // since the last sleep
  std::optional<std::string> lost_;           // set while frames are taken, acted on after
  std::optional<std::string> last_words_of_;  // the connection closed; what it said last is still taken
  TimePoint last_words_until_;

  std::atomic<bool> stopping_{false};
  std::atomic<TimePoint> stop_deadline_{TimePoint{}};

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  bool first_session_ = false;
  std::string last_failure_;
  std::optional<ClientError> failure_;
  std::shared_ptr<Client::StateCallback> on_state_;  // one for all calls: it may keep a state of its own
};

}  // namespace sluice::internal
