#include "cli/publisher.h"

#include <thread>

#include "base/error.h"

namespace sluice::cli {

void Publisher::pace() {
  if (options_.rate <= 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (!started_) started_ = now;
  const std::chrono::duration<double> offset(static_cast<double>(sent_) / options_.rate);
  std::this_thread::sleep_until(*started_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(offset));
}

void Publisher::publish(std::string_view payload, std::uint64_t number) {
  pace();
  ++sent_;
  try {
    client_.publish(options_.target, payload, options_.publish,
                    [this, number](const Receipt* receipt, const ClientError* error) { keep(receipt, error, number); });
  } catch (const ClientError& error) {
    // A payload that is too large is this message's failure. Anything else that shows before sending is every message's, so the first
    // one ends it.
    const bool too_large = error.code() == static_cast<int>(ErrorCode::frame_too_large);
    if (!too_large && (error.code() != kErrorBadArgument || number == 1)) throw;
    refused(error, number);
  }
}

void Publisher::keep(const Receipt* receipt, const ClientError* error, std::uint64_t number) {
  if (receipt == nullptr) {
    refused(*error, number);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (account_.published == 0) account_.first_id = receipt->message_id;
  account_.last_id = receipt->message_id;
  ++account_.published;
  if (options_.print_ids && !output_failure_) print_id(receipt->message_id);
}

void Publisher::print_id(std::uint64_t id) {
  try {
    if (options_.json) {
      out_.object({{options_.publish.to_topic ? "topic" : "queue", options_.target}, {"id", id}});
    } else {
      out_.line(std::to_string(id));
    }
  } catch (const Failure& failure) {
    output_failure_ = failure;
  }
}

void Publisher::refused(const ClientError& error, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  ++account_.refused;
  if (account_.refusal) return;
  account_.refused_number = number;
  account_.refusal = failure_of(error);
}

std::uint64_t Publisher::decided() {
  const std::lock_guard lock(mutex_);
  return account_.published + account_.refused;
}

Publisher::Account Publisher::finish(Milliseconds patience) {
  while (true) {
    const std::uint64_t before = decided();
    try {
      client_.flush(patience);
      break;
    } catch (const ClientError& error) {
      if (error.code() != kErrorTimeout || decided() == before) throw;
    }
  }
  // flush() tells that all is decided; close() waits for the callbacks that tell us.
  client_.close();
  const std::lock_guard lock(mutex_);
  if (output_failure_) throw *output_failure_;
  return account_;
}

}  // namespace sluice::cli
