#include "cli/subscription.h"

#include <thread>

#include "cli/failure.h"
#include "cli/print_delivery.h"
#include "cli/text.h"

namespace sluice::cli {

Source source_of(const SubOptions& options) {
  return options.queue ? Source{*options.queue, false} : Source{*options.topic, true};
}

std::uint64_t Subscription::run() {
  std::vector<std::thread> others;
  for (std::uint32_t i = 1; i < options_.parallel; ++i) others.emplace_back([this] { work(); });
  work();
  for (std::thread& other : others) other.join();
  for (Delivery& delivery : held_) delivery.release();
  held_.clear();
  if (failure_) std::rethrow_exception(failure_);
  return taken_.load();
}

void Subscription::work() {
  try {
    take_until_done();
  } catch (const std::exception&) {
    keep_failure(std::current_exception());
  }
}

void Subscription::take_until_done() {
  std::optional<Milliseconds> wait;
  if (options_.wait_ms) wait = Milliseconds(*options_.wait_ms);
  while (take_ticket()) {
    std::optional<Delivery> delivery = consumer_.receive(wait);
    if (!delivery) return;
    taken_.fetch_add(1);
    handle(*delivery);
  }
}

void Subscription::handle(Delivery& delivery) {
  if (!options_.exec.empty()) {
    execute(delivery);
  } else {
    print_and_settle(delivery);
  }
}

void Subscription::print_and_settle(Delivery& delivery) {
  print_or_release(context_, delivery, {source_, options_.raw});
  if (options_.no_ack) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(delivery));
  } else if (options_.nack) {
    delivery.nack(options_.reason.empty() ? "nacked by sluice sub" : options_.reason);
  } else if (options_.reject) {
    delivery.reject(options_.reason.empty() ? "rejected by sluice sub" : options_.reason);
  } else {
    delivery.ack();
  }
}

void Subscription::execute(Delivery& delivery) {
  const auto begun = std::chrono::steady_clock::now();
  const HandlerResult result = run_handler(delivery);
  // Told before it is settled: a settled delivery has no facts left to tell.
  report(delivery, result, std::chrono::steady_clock::now() - begun);
  if (result.ok()) {
    delivery.ack();
  } else {
    nacked_.fetch_add(1);
    delivery.nack(result.reason());
  }
}

HandlerResult Subscription::run_handler(Delivery& delivery) {
  HandlerRun run;
  run.payload = delivery.payload();
  run.stdout_to_stderr = context_.globals.json;
  run.environment = {{"SLUICE_MESSAGE_ID", std::to_string(delivery.id())},
                     {source_.unnamed ? "SLUICE_PATTERN" : "SLUICE_QUEUE", source_.name},
                     {"SLUICE_DELIVERY_COUNT", std::to_string(delivery.count())},
                     {"SLUICE_ATTEMPTS", std::to_string(delivery.attempts())}};
  try {
    return handlers_.run(run);
  } catch (const Failure&) {
    delivery.release();  // it was never begun
    throw;
  }
}

void Subscription::report(const Delivery& delivery, const HandlerResult& result,
                          std::chrono::steady_clock::duration took) {
  if (!context_.globals.json) return;
  Json object = {{"id", delivery.id()},
                 {source_.unnamed ? "pattern" : "queue", source_.name},
                 {"delivery_count", delivery.count()},
                 {"outcome", result.ok() ? "acked" : "nacked"},
                 {"exit_status", result.exit_status},
                 {"took_ms", std::chrono::duration_cast<Milliseconds>(took).count()}};
  if (!result.ok()) object["error"] = result.reason();
  context_.out.object(object);
  context_.out.flush();
}

void Subscription::keep_failure(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  consumer_.close();  // the other workers finish what they have begun, and take no more
}

}  // namespace sluice::cli
