#pragma once
// clients/cpp/consumer_core.h: one consumer: what was delivered, who holds it, and the credit that goes back.
//
// Place    I/O thread -> [consumer core] -> receive() or handler thread; settlements and credit the other way.
// Threads  the first group any thread; the second the I/O thread.
// Owns     its handler thread. Knows the client only by Wake and Callbacks: it may outlive it, then as closed.
// Source   spec/protocol.md sections 8 and 9.
//
// Credit: each delivery gives back one message and its bytes exactly once, when the user settles it, or when the library
// drops it. A new connection starts with the whole credit less what the user still holds of earlier ones.
//
// When settlements leave: at once if nothing is left to handle, if half the prefetch has come together (of a small one all of it),
// or if they are anything but an ack; else 1 ms after the first. So slow consumers see no delay, and fast ones send large frames.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "callbacks.h"
#include "delivered_frame.h"
#include "settle_buffer.h"
#include "sluice/consumer.h"
#include "wake.h"

namespace sluice::internal {

class ConsumerCore : public std::enable_shared_from_this<ConsumerCore> {
 public:
  ConsumerCore(std::uint64_t number, std::string_view queue, const ConsumeOptions& options, Milliseconds close_timeout,
               std::shared_ptr<Wake> wake, std::shared_ptr<Callbacks> callbacks);
  ~ConsumerCore();

  std::uint64_t number() const { return number_; }
  // Until the broker knows the consumer. Throws its error, or timeout.
  void wait_declared(Milliseconds timeout);
  void start_handler(Consumer::Handler handler);
  std::optional<Delivery> receive(std::optional<Milliseconds> timeout);
  void on_stale(Consumer::StaleCallback callback);
  std::optional<ClientError> failure() const;

  // REQUIRES: the delivery is not settled; afterwards it is. Nothing is thrown when it is too late.
  void settle(Delivery& delivery, const wire::Settlement& settlement);
  void extend(Delivery& delivery, std::optional<Milliseconds> lease);
  static Milliseconds lease_left(const Delivery& delivery);

  // Releases what is buffered and ends the consumer; waits for the broker until `deadline` (default: the client's close_timeout).
  void close();
  void close(TimePoint deadline);
  // Waits for the running handler, until `deadline` if there is one; not from inside a callback or handler.
  void wait_handler(std::optional<TimePoint> deadline);

  // What is to be sent next: declare() or cancel() give it.
  enum class Step { none, declare, cancel };
  Step next_step(bool connected);
  wire::Consume declare(std::uint64_t request);
  wire::Cancel cancel(std::uint64_t request);
  void declared();
  // Over, with or without an error.
  void end(std::optional<ClientError> error);
  bool has_ended() const { return has_ended_; }
  // Ended, and nothing will ever come from it again.
  bool is_gone() const;
  void connection_lost();
  void deliver(std::shared_ptr<DeliveredFrame> frame);
  void lease_lost(const wire::LeaseLost& lost);
  // Of SETTLED: takes it if the lease was this consumer's.
  bool settle_exception(const wire::SettleException& exception);
  // Appends what is due now (or everything), and brings `wake_at` forward to when more will be.
  void collect(TimePoint now, bool everything, SettleBatch& out, TimePoint& wake_at);

 private:
  enum class Phase { undeclared, declaring, active, cancelling, ended };
  using Lock = std::unique_lock<std::mutex>;

  std::optional<Delivery> take();
  void return_credit(std::size_t bytes);
  // Whom to wake, best after the lock is given back: who is woken takes it.
  enum class Notice { none, now, in_time };
  Notice flush_soon(bool at_once);
  void give(Notice notice);
  void release_rest(DeliveredFrame& frame);
  void drop_buffered();
  void enter_ended();
  void report_stale(std::uint64_t first, std::uint64_t last, const ClientError& why);
  void extend_due(TimePoint now, TimePoint& wake_at);
  bool extend_frame(DeliveredFrame& frame, TimePoint now);
  void run_handler(Consumer::Handler given);
  static void handle(const Consumer::Handler& handler, Delivery& delivery);

  const std::uint64_t number_;
  const std::string queue_;
  const ConsumeOptions options_;
  const Milliseconds close_timeout_;
  const std::uint64_t flush_leases_;
  const std::shared_ptr<Wake> wake_;
  const std::shared_ptr<Callbacks> callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // receivers, and those who wait for a phase
  std::uint32_t receivers_waiting_ = 0;
  Phase phase_ = Phase::undeclared;
  bool closing_ = false;
  std::optional<ClientError> failure_;
  std::uint64_t generation_ = 1;  // of the connection
  std::deque<std::shared_ptr<DeliveredFrame>> frames_;
  std::uint64_t buffered_ = 0;  // deliveries in frames_ that nobody took
  std::uint64_t held_ = 0;      // taken and not settled, of all generations
  std::uint64_t held_bytes_ = 0;
  std::uint64_t bytes_owed_ = 0;  // held of earlier connections beyond the whole byte credit: not granted again
  SettleBuffer settle_;
  bool flush_due_ = false;
  TimePoint first_unflushed_{};
  std::deque<wire::LeaseRange> recent_;  // settled lately: SETTLED does not say whose leases it speaks of
  std::vector<std::weak_ptr<DeliveredFrame>> extending_;
  Consumer::StaleCallback on_stale_;

  // Spare the I/O thread the lock; written under it.
  std::atomic<bool> has_unflushed_{false};
  std::atomic<bool> has_phase_work_{true};
  std::atomic<bool> has_ended_{false};
  std::thread thread_;
  bool handler_finished_ = true;
};

}  // namespace sluice::internal
