// sluice consumer: ls.

#include "base/units.h"
#include "cli/all_pages.h"
#include "cli/commands/commands.h"
#include "cli/message_json.h"
#include "cli/options.h"

namespace sluice::cli {
namespace {

struct ConsumerOptions {
  std::string queue;
};

Exit run_ls(Context& context, const ConsumerOptions& options) {
  Client client = context.connect("consumer ls");
  Table table(
      {{"QUEUE"}, {"SESSION", true}, {"CONSUMER", true}, {"HELD", true}, {"CREDIT", true}, {"CREDIT BYTES", true}});
  for (const ConsumerInfo& consumer : all_consumers(client, options.queue)) {
    if (context.globals.json) {
      context.out.object(json_of(consumer));
      continue;
    }
    const std::string bytes =
        context.out.terminal() ? format_bytes(consumer.credit_bytes) : std::to_string(consumer.credit_bytes);
    table.add({consumer.queue, std::to_string(consumer.session), std::to_string(consumer.consumer),
               std::to_string(consumer.held), std::to_string(consumer.credit_messages), bytes});
  }
  if (!context.globals.json) table.print(context.out);
  return Exit::done;
}

}  // namespace

void add_consumer_commands(Registry& registry) {
  auto options = std::make_shared<ConsumerOptions>();
  CLI::App& noun = registry.add_noun("consumer", "Consumers: ls.");
  CLI::App& ls = registry.add_command(
      noun, "ls",
      "Lists who takes from which queue, how many messages each holds, and how many more it is ready to take.\n"
      "In a pipe tab-separated: queue, session, consumer, held, credit in messages, credit in bytes.",
      "sluice consumer ls jobs --json | jq 'select(.credit_messages == 0)'",
      [options](Context& context) { return run_ls(context, *options); });
  add_queue(ls, options->queue, "only those of this queue")->required(false);
}

}  // namespace sluice::cli
