// sluice queue: add, ls, info, purge, rm.

#include "base/units.h"
#include "cli/all_queues.h"
#include "cli/commands/commands.h"
#include "cli/confirm.h"
#include "cli/facts.h"
#include "cli/message_json.h"
#include "cli/options.h"
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
               {"OLDEST", true}});
  for (const QueueInfo& queue : all_queues(client, options.prefix)) {
    if (context.globals.json) {
      context.out.object(json_of(queue));
      continue;
    }
    const std::string oldest =
        context.out.terminal() ? format_duration_ms(queue.oldest_age_ms) : std::to_string(queue.oldest_age_ms);
    table.add({queue.name, std::to_string(queue.ready), std::to_string(queue.delayed), std::to_string(queue.leased),
               std::to_string(queue.dead), std::to_string(queue.consumers), oldest});
  }
  if (!context.globals.json) table.print(context.out);
  return Exit::done;
}

void add_policy_facts(Facts& facts, const QueueInfo& queue) {
  const QueuePolicy& policy = queue.policy;
  facts.add_duration("lease_ms", policy.lease_ms.value_or(0));
  facts.add("max_attempts", policy.max_attempts.value_or(0));
  facts.add_duration("backoff_initial_ms", policy.backoff.initial_ms.value_or(0));
  facts.add("backoff_factor", json_line(policy.backoff.factor.value_or(0)));
  facts.add_duration("backoff_max_ms", policy.backoff.max_ms.value_or(0));
  facts.add("backoff_jitter", json_line(policy.backoff.jitter.value_or(0)));
  facts.add("max_messages", policy.max_messages.value_or(0));
  facts.add_size("max_bytes", policy.max_bytes.value_or(0));
  facts.add("dead_letter_max", policy.dead_letter_max.value_or(0));
  facts.add("durable", queue.durable ? "yes" : "no");
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
  add_policy_facts(facts, queue);
  for (const auto& [name, value] : queue.counters) facts.add(name, value);
  facts.print();
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

void add_policy_flags(CLI::App& command, QueuePolicy& policy) {
  constexpr double kFactorMax = 1e6;
  add_duration(command, "--lease", policy.lease_ms, "how long a consumer has for a message before it goes to another");
  add_number(command, "--max-attempts", policy.max_attempts, {.min = 1},
             "failed attempts before a message is a dead letter");
  add_duration(command, "--backoff-initial", policy.backoff.initial_ms, "wait after the first failed attempt");
  add_decimal(command, "--backoff-factor", policy.backoff.factor, 0, kFactorMax,
              "by what the wait grows with each attempt");
  add_duration(command, "--backoff-max", policy.backoff.max_ms, "the longest wait");
  add_decimal(command, "--backoff-jitter", policy.backoff.jitter, 0, 1, "0.2: each wait up to 20 % longer or shorter");
  add_number(command, "--max-messages", policy.max_messages, {}, "refuse publishes above so many messages");
  add_size(command, "--max-bytes", policy.max_bytes, "refuse publishes above so many bytes");
  add_number(command, "--dlq-max", policy.dead_letter_max, {}, "dead letters kept; the oldest go first");
}

}  // namespace

void add_queue_commands(Registry& registry) {
  auto options = std::make_shared<QueueOptions>();
  CLI::App& noun = registry.add_noun("queue", "Queues: add, ls, info, purge, rm.");
  CLI::App& add = registry.add_command(
      noun, "add", "Creates a queue; what is not given is the broker's default. Exit 1: it exists with another policy.",
      "sluice queue add jobs --lease 5m --max-attempts 3",
      [options](Context& context) { return run_add(context, *options); });
  add_queue(add, options->queue);
  add_policy_flags(add, options->policy);
  CLI::App& ls = registry.add_command(
      noun, "ls",
      "Lists queues by name. In a pipe tab-separated: name, ready, delayed, leased, dead, consumers, oldest age (ms).",
      "sluice queue ls --json | jq -r 'select(.dead > 0).name'",
      [options](Context& context) { return run_ls(context, *options); });
  ls.add_option("PREFIX", options->prefix, "only names that begin with this");
  CLI::App& info = registry.add_command(noun, "info", "Shows depth, policy and counters of a queue.",
                                        "sluice queue info jobs --json",
                                        [options](Context& context) { return run_info(context, *options); });
  add_queue(info, options->queue);
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
  for (const char* const verb : {"edit", "pause", "resume"}) registry.add_later_command(noun, verb);
}

}  // namespace sluice::cli
