#pragma once
// cli/publisher.h: publishes one after the other, and keeps account of what became of each.
//
// Threads  publish() and finish() from one thread; answers arrive on the client's callback thread.
// Errors   a refusal of one message is counted, and the others go on; the first one is kept. Failure input_output when the ids
//          cannot be printed.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "cli/failure.h"
#include "cli/output.h"
#include "sluice/client.h"

namespace sluice::cli {

class Publisher {
 public:
  struct Options {
    std::string target;  // a queue, or a topic if publish.to_topic
    PublishOptions publish;
    bool print_ids = false;
    bool json = false;
    double rate = 0;  // messages a second; 0 = as fast as possible
  };
  struct Account {
    std::uint64_t published = 0;
    std::uint64_t refused = 0;
    std::uint64_t first_id = 0;
    std::uint64_t last_id = 0;
    std::uint64_t refused_number = 0;  // of the first refused message
    std::optional<Failure> refusal;    // its failure
  };

  Publisher(Client& client, Output& out, Options options) : client_(client), out_(out), options_(std::move(options)) {}
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Waits for its turn if there is a rate. `number` counts from 1 and names the message in errors.
  void publish(std::string_view payload, std::uint64_t number);
  // Waits until all is decided, as long as answers keep coming; ClientError timeout after `patience` without one.
  Account finish(Milliseconds patience);

 private:
  void pace();
  void keep(const Receipt* receipt, const ClientError* error, std::uint64_t number);
  void refused(const ClientError& error, std::uint64_t number);
  void print_id(std::uint64_t id);
  std::uint64_t decided();

  Client& client_;
  Output& out_;
  const Options options_;
  std::optional<std::chrono::steady_clock::time_point> started_;
  std::uint64_t sent_ = 0;
  std::mutex mutex_;  // guards what follows
  Account account_;
  std::optional<Failure> output_failure_;  // of the callback thread, for the caller's
};

}  // namespace sluice::cli
