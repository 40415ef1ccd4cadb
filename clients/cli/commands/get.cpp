// sluice get: one message, acked.

#include "cli/commands/commands.h"
#include "cli/message_json.h"
#include "cli/options.h"
#include "cli/print_delivery.h"
#include "sluice/consumer.h"

namespace sluice::cli {
namespace {

struct GetOptions {
  std::string queue;
  std::uint64_t wait_ms = 0;
  bool raw = false;
};

// What is there arrives before the answer to a question asked after the consumer was set up: frames keep their order. So an empty
// queue is known to be empty, without guessing how long a message might take.
std::optional<Delivery> take(Client& client, Consumer& consumer, const GetOptions& options) {
  client.queue_info(options.queue);
  std::optional<Delivery> delivery = consumer.receive(Milliseconds(0));
  if (!delivery && options.wait_ms > 0) delivery = consumer.receive(Milliseconds(options.wait_ms));
  return delivery;
}

Exit run_get(Context& context, const GetOptions& options) {
  Client client = context.connect("get");
  client.queue_info(options.queue);  // consuming would create a queue that is not there
  ConsumeOptions consume;
  consume.prefetch = 1;
  Consumer consumer(client, options.queue, consume);
  std::optional<Delivery> delivery = take(client, consumer, options);
  if (!delivery) throw empty_failure("queue '" + options.queue + "' has no message that is ready");
  print_or_release(context, *delivery, {{options.queue, false}, options.raw});
  delivery->ack();
  return Exit::done;
}

}  // namespace

void add_get(Registry& registry) {
  auto options = std::make_shared<GetOptions>();
  CLI::App& command = registry.add_command(
      registry.root(), "get", "Takes one message: prints and acks it (exit 7: the queue is empty).",
      "sluice get jobs --json", [options](Context& context) { return run_get(context, *options); });
  add_queue(command, options->queue);
  add_duration(command, "--wait", options->wait_ms, "wait this long for a message (0s)");
  command.add_flag("--raw", options->raw, "the payload's bytes and nothing else, not even a newline");
}

}  // namespace sluice::cli
