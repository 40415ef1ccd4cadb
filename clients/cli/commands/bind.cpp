// sluice bind: add, rm, ls of the bindings of queues to patterns of topics.

#include "cli/all_pages.h"
#include "cli/commands/commands.h"
#include "cli/message_json.h"
#include "cli/options.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

struct BindOptions {
  Binding binding;
};

std::string text_of(const Binding& binding) {
  return "queue " + escape(binding.queue) + " to " + escape(binding.pattern);
}

Exit run_add(Context& context, const Binding& binding) {
  Client client = context.connect("bind add");
  const bool added = client.bind(binding.queue, binding.pattern);
  if (context.globals.json) {
    Json object = json_of(binding);
    object["added"] = added;
    context.out.object(object);
  } else {
    note(added ? "bound " + text_of(binding) : text_of(binding) + " was bound already");
  }
  return Exit::done;
}

Exit run_rm(Context& context, const Binding& binding) {
  Client client = context.connect("bind rm");
  if (!client.unbind(binding.queue, binding.pattern))
    throw Failure(Exit::not_found, kErrorNotBound, "not_bound",
                  "queue '" + escape(binding.queue) + "' is not bound to '" + escape(binding.pattern) + "'",
                  "sluice bind ls shows what is bound");
  if (context.globals.json) {
    Json object = json_of(binding);
    object["removed"] = true;
    context.out.object(object);
  } else {
    note("unbound " + text_of(binding));
  }
  return Exit::done;
}

Exit run_ls(Context& context, const Binding& wanted) {
  Client client = context.connect("bind ls");
  if (!wanted.queue.empty()) client.queue_info(wanted.queue);  // of a queue that is not there, "none" would mislead
  Table table({{"QUEUE"}, {"PATTERN"}});
  for (const Binding& binding : all_bindings(client, wanted.queue)) {
    if (context.globals.json) {
      context.out.object(json_of(binding));
    } else {
      table.add({binding.queue, binding.pattern});
    }
  }
  if (!context.globals.json) table.print(context.out);
  return Exit::done;
}

}  // namespace

void add_bind_commands(Registry& registry) {
  auto options = std::make_shared<BindOptions>();
  Binding& binding = options->binding;
  const std::string pattern_help = "words divided by dots; * is any one word, # as the last any number of words";
  CLI::App& noun = registry.add_noun("bind", "Bindings of queues to topics: add, rm, ls.");
  CLI::App& add = registry.add_command(
      noun, "add",
      "Binds a queue to a pattern: it gets what is published to topics that match. Creates the queue if there is none.",
      "sluice bind add billing 'orders.*.paid'",
      [options](Context& context) { return run_add(context, options->binding); });
  add_queue(add, binding.queue);
  add_word(add, "PATTERN", binding.pattern, pattern_help);
  CLI::App& rm = registry.add_command(
      noun, "rm", "Undoes a binding; the queue and its messages stay (exit 4: it was not bound to that pattern).",
      "sluice bind rm billing 'orders.*.paid'",
      [options](Context& context) { return run_rm(context, options->binding); });
  add_queue(rm, binding.queue);
  add_word(rm, "PATTERN", binding.pattern, pattern_help);
  CLI::App& ls = registry.add_command(
      noun, "ls", "Lists bindings by queue and pattern. In a pipe tab-separated: queue, pattern.",
      "sluice bind ls billing", [options](Context& context) { return run_ls(context, options->binding); });
  add_queue(ls, binding.queue, "only those of this queue")->required(false);
}

}  // namespace sluice::cli
