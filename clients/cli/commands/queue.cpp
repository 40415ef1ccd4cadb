// sluice queue: add, ls, info, edit, pause, resume, purge, rm.

#include "base/units.h"
#include "cli/all_pages.h"
#include "cli/commands/commands.h"
#include "cli/confirm.h"
#include "cli/facts.h"
#include "cli/message_json.h"
#include "cli/options.h"
#include "cli/policy.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

struct QueueOptions {
  std::string queue;
  std::string prefix;
  QueuePolicy policy;
  bool force = false;
};

Exit run_add(Context& context, const QueueOptions& options) {
  Client client = context.connect("queue add");
  bool created = false;
  const QueueInfo queue = client.declare_queue(options.queue, options.policy, &created);
  if (context.globals.json) {
    Json object = json_of(queue);
    object["created"] = created;
    context.out.object(object);
  } else {
    note(created ? "created queue " + queue.name : "queue " + queue.name + " is there already, with this policy");
  }
  return Exit::done;
}

Exit run_ls(Context& context, const QueueOptions& options) {
  Client client = context.connect("queue ls");
  Table table({{"NAME"},
               {"READY", true},
               {"DELAYED", true},
               {"LEASED", true},
               {"DEAD", true},
               {"CONSUMERS", true},
               {"OLDEST", true},
               {"PAUSED"}});
  for (const QueueInfo& queue : all_queues(client, options.prefix)) {
    if (context.globals.json) {
      context.out.object(json_of(queue));
      continue;
    }
    const std::string oldest =
        context.out.terminal() ? format_duration_ms(queue.oldest_age_ms) : std::to_string(queue.oldest_age_ms);
    table.add({queue.name, std::to_string(queue.ready), std::to_string(queue.delayed), std::to_string(queue.leased),
               std::to_string(queue.dead), std::to_string(queue.consumers), oldest, queue.paused ? "yes" : "no"});
  }
  if (!context.globals.json) table.print(context.out);
  return Exit::done;
}

Exit run_info(Context& context, const QueueOptions& options) {
  Client client = context.connect("queue info");
  const QueueInfo queue = client.queue_info(options.queue);
  if (context.globals.json) {
    context.out.object(json_of(queue));
    return Exit::done;
  }
  Facts facts(context.out);
  facts.add("name", queue.name);
  facts.add("ready", queue.ready);
  facts.add("delayed", queue.delayed);
  facts.add("leased", queue.leased);
  facts.add("dead", queue.dead);
  facts.add("consumers", queue.consumers);
  facts.add_duration("oldest_age_ms", queue.oldest_age_ms);
  facts.add_size("bytes", queue.bytes);
  facts.add("paused", queue.paused ? "yes" : "no");
  add_policy_facts(facts, queue.policy);
  for (const auto& [name, value] : queue.counters) facts.add(name, value);
  facts.print();
  return Exit::done;
}

Exit run_edit(Context& context, const QueueOptions& options) {
  if (!any_set(options.policy))
    throw usage_failure("queue edit: nothing to change: no flag of the policy", "see sluice queue edit --help");
  Client client = context.connect("queue edit");
  const QueueInfo queue = client.edit_queue(options.queue, options.policy);
  if (context.globals.json) {
    context.out.object(json_of(queue));
  } else {
    note("changed queue " + queue.name);
  }
  return Exit::done;
}

Exit run_pause(Context& context, const QueueOptions& options, bool pause) {
  Client client = context.connect(pause ? "queue pause" : "queue resume");
  const QueueInfo queue = pause ? client.pause_queue(options.queue) : client.resume_queue(options.queue);
  if (context.globals.json) {
    context.out.object(json_of(queue));
  } else {
    note((pause ? "paused queue " : "resumed queue ") + queue.name);
  }
  return Exit::done;
}

Exit run_purge(Context& context, const QueueOptions& options) {
  require_confirmation(options.force, "purge queue " + escape(options.queue));
  Client client = context.connect("queue purge");
  const PurgeResult result = client.purge_queue(options.queue);
  if (context.globals.json) {
    context.out.object({{"queue", options.queue}, {"purged", result.purged}, {"leased", result.leased}});
    return Exit::done;
  }
  const std::string leased = result.leased == 0 ? "" : ", " + group_digits(result.leased) + " more are leased and stay";
  note("purged " + count_of(result.purged, "message") + leased);
  return Exit::done;
}

Exit run_rm(Context& context, const QueueOptions& options) {
  require_confirmation(options.force, "delete queue " + escape(options.queue) + " and its messages");
  Client client = context.connect("queue rm");
  const std::uint64_t deleted = client.delete_queue(options.queue);
  if (context.globals.json) {
    context.out.object({{"queue", options.queue}, {"deleted_messages", deleted}});
  } else {
    note("deleted queue " + options.queue + " with " + count_of(deleted, "message"));
  }
  return Exit::done;
}

}  // namespace

void add_queue_commands(Registry& registry) {
  auto options = std::make_shared<QueueOptions>();
  CLI::App& noun = registry.add_noun("queue", "Queues: add, ls, info, edit, pause, resume, purge, rm.");
  CLI::App& add = registry.add_command(
      noun, "add", "Creates a queue; what is not given is the broker's default. Exit 1: it exists with another policy.",
      "sluice queue add jobs --lease 5m --max-attempts 3\n"
      "  sluice queue add news --max-messages 1000 --overflow drop_oldest --ttl 1h",
      [options](Context& context) { return run_add(context, *options); });
  add_queue(add, options->queue);
  add_policy_flags(add, options->policy);
  CLI::App& ls = registry.add_command(
      noun, "ls",
      "Lists queues by name. In a pipe tab-separated: name, ready, delayed, leased, dead, consumers, oldest age (ms),\n"
      "paused (yes, no).",
      "sluice queue ls --json | jq -r 'select(.dead > 0).name'",
      [options](Context& context) { return run_ls(context, *options); });
  ls.add_option("PREFIX", options->prefix, "only names that begin with this");
  CLI::App& info = registry.add_command(noun, "info", "Shows depth, policy and counters of a queue.",
                                        "sluice queue info jobs --json",
                                        [options](Context& context) { return run_info(context, *options); });
  add_queue(info, options->queue);
  CLI::App& edit = registry.add_command(noun, "edit",
                                        "Changes what is given of a queue's policy, and leaves the rest. It holds at "
                                        "once; messages beyond a lowered limit "
                                        "stay.",
                                        "sluice queue edit jobs --max-attempts 10 --dlq-max 100000",
                                        [options](Context& context) { return run_edit(context, *options); });
  add_queue(edit, options->queue);
  add_policy_flags(edit, options->policy);
  CLI::App& pause = registry.add_command(
      noun, "pause", "Stops the deliveries of a queue. Publishing and settling go on; leases run on.",
      "sluice queue pause jobs", [options](Context& context) { return run_pause(context, *options, true); });
  add_queue(pause, options->queue);
  CLI::App& resume =
      registry.add_command(noun, "resume", "Lets a paused queue deliver again.", "sluice queue resume jobs",
                           [options](Context& context) { return run_pause(context, *options, false); });
  add_queue(resume, options->queue);
  CLI::App& purge = registry.add_command(noun, "purge", "Drops the messages of a queue that nobody holds; asks first.",
                                         "sluice queue purge jobs --force",
                                         [options](Context& context) { return run_purge(context, *options); });
  add_queue(purge, options->queue);
  purge.add_flag("--force", options->force, "do not ask");
  CLI::App& rm =
      registry.add_command(noun, "rm", "Deletes a queue and its messages; asks first.", "sluice queue rm jobs --force",
                           [options](Context& context) { return run_rm(context, *options); });
  add_queue(rm, options->queue);
  rm.add_flag("--force", options->force, "do not ask");
}

}  // namespace sluice::cli
