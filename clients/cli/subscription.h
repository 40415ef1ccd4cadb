#pragma once
// cli/subscription.h: the workers of one `sluice sub`, who take turns on one consumer.
//
// Place    commands/sub reads the flags → [subscription] → print_delivery or handler_process.
// Threads  run() starts options.parallel - 1 threads and waits for them; stop_work() from any thread.
// Owns     what --no-ack holds; borrows the context and the consumer, which outlive it.

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/handler_process.h"
#include "cli/message_json.h"
#include "sluice/consumer.h"

namespace sluice::cli {

struct SubOptions {
  std::optional<std::string> queue;
  std::optional<std::string> topic;  // a pattern: of the queue, or of an unnamed subscription if there is none
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> wait_ms;
  std::optional<std::uint32_t> prefetch;
  std::uint32_t parallel = 1;
  std::string exec;
  std::string reason;
  bool raw = false;
  bool no_ack = false;
  bool nack = false;
  bool reject = false;
  QueuePolicy policy;  // of an unnamed subscription's queue
};

// REQUIRES: a queue, or a topic.
Source source_of(const SubOptions& options);

class Subscription {
 public:
  Subscription(Context& context, const SubOptions& options, Consumer& consumer)
      : context_(context),
        options_(options),
        source_(source_of(options)),
        consumer_(consumer),
        handlers_(options.exec) {}
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // Until -n messages were taken, --wait went by without one, or the consumer was closed; returns how many were taken. Throws the
  // first failure of a worker, after all of them have finished what they had begun.
  std::uint64_t run();
  std::uint64_t nacked() const { return nacked_.load(); }
  // Ends the commands that are running.
  void stop_work() { handlers_.terminate_all(); }

 private:
  void work();
  void take_until_done();
  bool take_ticket() { return !options_.count || tickets_.fetch_add(1) < *options_.count; }
  void handle(Delivery& delivery);
  void print_and_settle(Delivery& delivery);
  void execute(Delivery& delivery);
  HandlerResult run_handler(Delivery& delivery);
  void report(const Delivery& delivery, const HandlerResult& result, std::chrono::steady_clock::duration took);
  void keep_failure(std::exception_ptr failure);

  Context& context_;
  const SubOptions& options_;
  const Source source_;
  Consumer& consumer_;
  HandlerProcesses handlers_;
  std::atomic<std::uint64_t> tickets_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> nacked_{0};
  std::mutex mutex_;
  std::vector<Delivery> held_;  // of --no-ack; released at the end, since earlier they would come straight back
  std::exception_ptr failure_;
};

}  // namespace sluice::cli
