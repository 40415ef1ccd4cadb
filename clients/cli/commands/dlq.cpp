// sluice dlq: ls, peek, replay, purge, rm of dead letters.

#include "base/error.h"
#include "base/units.h"
#include "cli/all_pages.h"
#include "cli/commands/commands.h"
#include "cli/confirm.h"
#include "cli/message_json.h"
#include "cli/options.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kSuffix = ".dlq";
constexpr std::size_t kCellColumns = 50;
constexpr std::uint64_t kLimitMax = 1'000;

struct DlqOptions {
  std::string queue;
  std::uint64_t limit = 10;
  std::uint64_t after = 0;  // a position
  std::string reason;       // empty: any
  std::string prefix;
  ReplayOptions replay;
  bool force = false;
};

// Both the queue's name and that of its dead-letter queue are taken.
std::string dead_letter_queue(const std::string& name) {
  return name.ends_with(kSuffix) ? name : name + std::string(kSuffix);
}

std::string origin_of(const std::string& dead_letter_queue) {
  return dead_letter_queue.substr(0, dead_letter_queue.size() - kSuffix.size());
}

// A queue without dead letters may have no dead-letter queue yet: then the answer is "none", not "no such queue". `ask` is the
// question; unknown_queue is thrown on if the origin does not exist either.
template <class Ask, class Answer>
Answer ask_or_none(Client& client, const std::string& dead_letters, const Ask& ask, Answer none) {
  try {
    return ask();
  } catch (const ClientError& error) {
    if (error.code() != static_cast<int>(ErrorCode::unknown_queue)) throw;
    client.queue_info(origin_of(dead_letters));
    return none;
  }
}

// How many there are, or of one reason: those that nobody holds, as a replay would count them.
std::uint64_t depth_of(Client& client, const QueueInfo& queue, const std::string& reason) {
  if (reason.empty()) return queue.ready + queue.delayed + queue.leased;
  ReplayOptions count;
  count.reason = reason;
  count.dry_run = true;
  const ReplayResult result = client.replay(queue.name, count);
  return result.replayed + result.refused;
}

Exit run_ls(Context& context, const DlqOptions& options) {
  Client client = context.connect("dlq ls");
  Table table({{"NAME"}, {"ORIGIN"}, {"DEPTH", true}, {"OLDEST", true}});
  for (const QueueInfo& queue : all_queues(client, options.prefix)) {
    if (!queue.name.ends_with(kSuffix)) continue;
    const std::uint64_t depth = depth_of(client, queue, options.reason);
    if (depth == 0 && !options.reason.empty()) continue;
    if (context.globals.json) {
      Json object = json_of(queue);
      object["origin"] = origin_of(queue.name);
      object["depth"] = depth;
      context.out.object(object);
      continue;
    }
    const std::string oldest =
        context.out.terminal() ? format_duration_ms(queue.oldest_age_ms) : std::to_string(queue.oldest_age_ms);
    table.add({queue.name, origin_of(queue.name), std::to_string(depth), oldest});
  }
  if (!context.globals.json) table.print(context.out);
  return Exit::done;
}

void print_table(Output& out, const MessageList& list) {
  Table table({{"ID", true},
               {"REASON"},
               {"DELIVERIES", true},
               {"NACKS", true},
               {"EXPIRIES", true},
               {"DISCONNECTS", true},
               {"ERROR"},
               {"PAYLOAD"}});
  const auto cell = [&](std::string_view text) {
    return out.terminal() ? escape_cut(text, kCellColumns) : escape(text);
  };
  for (const MessageInfo& message : list.messages) {
    const DeadLetter dead = message.dead.value_or(DeadLetter{});
    const auto counter = [&](const char* name) {
      const auto found = dead.counters.find(name);
      return std::to_string(found == dead.counters.end() ? 0 : found->second);
    };
    table.add({std::to_string(message.id), cell(dead.reason), counter("deliveries"), counter("nacks"),
               counter("expiries"), counter("disconnects"), cell(dead.error), cell(message.payload)});
  }
  table.print(out);
}

// The broker shows what is there in pages; the reason is chosen here.
MessageList peek_by_reason(Client& client, const std::string& name, const DlqOptions& options) {
  MessageList found;
  std::uint64_t after = options.after;
  while (true) {
    MessageList page = client.peek(name, kLimitMax, after);
    for (MessageInfo& message : page.messages) {
      after = message.position;
      if (!message.dead || message.dead->reason != options.reason) continue;
      found.more = found.messages.size() == options.limit;
      if (found.more) return found;
      found.messages.push_back(std::move(message));
    }
    if (!page.more || page.messages.empty()) return found;
  }
}

Exit run_peek(Context& context, const DlqOptions& options) {
  const std::string name = dead_letter_queue(options.queue);
  Client client = context.connect("dlq peek");
  const MessageList list = ask_or_none(
      client, name,
      [&] {
        return options.reason.empty() ? client.peek(name, options.limit, options.after)
                                      : peek_by_reason(client, name, options);
      },
      MessageList{});
  if (list.messages.empty())
    throw empty_failure("queue '" + origin_of(name) + "' has no dead letters to show" +
                        (options.reason.empty() ? "" : " with the reason " + options.reason));
  if (context.globals.json) {
    for (const MessageInfo& message : list.messages) context.out.object(json_of(message));
  } else {
    print_table(context.out, list);
  }
  if (list.more) note("there are more: --after " + std::to_string(list.messages.back().position));
  return Exit::done;
}

ReplayOptions replay_options(const DlqOptions& options) {
  ReplayOptions replay = options.replay;
  replay.reason = options.reason;
  return replay;
}

Exit run_replay(Context& context, const DlqOptions& options) {
  const std::string name = dead_letter_queue(options.queue);
  Client client = context.connect("dlq replay");
  const ReplayResult result = ask_or_none(
      client, name, [&] { return client.replay(name, replay_options(options)); }, ReplayResult{});
  if (context.globals.json) {
    context.out.object({{"queue", name},
                        {"replayed", result.replayed},
                        {"refused", result.refused},
                        {"dry_run", options.replay.dry_run}});
  } else {
    note((options.replay.dry_run ? "would replay " : "replayed ") + count_of(result.replayed, "message") +
         (result.refused == 0 ? "" : ", " + group_digits(result.refused) + " refused by their queue and kept"));
  }
  if (result.refused == 0) return Exit::done;
  return result.replayed == 0 ? Exit::failed : Exit::partly;
}

Exit run_purge(Context& context, const DlqOptions& options) {
  const std::string name = dead_letter_queue(options.queue);
  require_confirmation(options.force, "purge the dead letters of " + escape(origin_of(name)));
  Client client = context.connect("dlq purge");
  const PurgeResult result = ask_or_none(
      client, name, [&] { return client.purge_queue(name); }, PurgeResult{});
  if (context.globals.json) {
    context.out.object({{"queue", name}, {"purged", result.purged}, {"leased", result.leased}});
    return Exit::done;
  }
  note("purged " + count_of(result.purged, "dead letter") +
       (result.leased == 0 ? "" : ", " + group_digits(result.leased) + " more are leased and stay"));
  return Exit::done;
}

Exit run_rm(Context& context, const DlqOptions& options) {
  const std::string name = dead_letter_queue(options.queue);
  require_confirmation(options.force, "delete " + escape(name) + " and its dead letters");
  Client client = context.connect("dlq rm");
  const std::uint64_t deleted = client.delete_queue(name);
  if (context.globals.json) {
    context.out.object({{"queue", name}, {"deleted_messages", deleted}});
  } else {
    note("deleted " + name + " with " + count_of(deleted, "dead letter"));
  }
  return Exit::done;
}

void add_reason(CLI::App& command, DlqOptions& options) {
  add_choice(command, "--reason", options.reason, "REASON", {"rejected", "attempts", "expired", "overflow"},
             "only those with this reason: rejected, attempts, expired, overflow");
}

void add_replay_flags(CLI::App& command, DlqOptions& options) {
  command.add_option("--to", options.replay.to, "replay into this queue (each one's origin)")->type_name("QUEUE");
  command
      .add_option_function<std::vector<std::string>>(
          "--id",
          [&options](const std::vector<std::string>& ids) {
            for (const std::string& id : ids) options.replay.ids.push_back(parse_number("--id", id, {.min = 1}));
          },
          "only this message; may be repeated")
      ->type_name("ID")
      ->allow_extra_args(false);
  add_number(command, "--limit", options.replay.limit, {.min = 1}, "at most so many, oldest first");
  command.add_flag("--dry-run", options.replay.dry_run, "only count");
}

}  // namespace

void add_dlq_commands(Registry& registry) {
  auto options = std::make_shared<DlqOptions>();
  const std::string queue_help = "the queue they come from, or their own queue (" + std::string("jobs or jobs.dlq)");
  CLI::App& noun = registry.add_noun("dlq", "Dead letters: ls, peek, replay, purge, rm.");
  CLI::App& ls = registry.add_command(
      noun, "ls",
      "Lists dead-letter queues. In a pipe tab-separated: name, origin, depth, oldest age (ms).\n"
      "With --reason, depth counts those of that reason that nobody holds; queues without any are left out.",
      "sluice dlq ls --reason expired", [options](Context& context) { return run_ls(context, *options); });
  ls.add_option("PREFIX", options->prefix, "only names that begin with this");
  add_reason(ls, *options);
  CLI::App& peek = registry.add_command(noun, "peek",
                                        "Shows dead letters: why, and after how many attempts of which kind (exit 7: "
                                        "none). In a pipe tab-separated: id, reason,\n"
                                        "deliveries, nacks, expiries, disconnects, error, payload.",
                                        "sluice dlq peek jobs --json | jq .dead.error",
                                        [options](Context& context) { return run_peek(context, *options); });
  add_queue(peek, options->queue, queue_help);
  add_number(peek, "-n,--messages", options->limit, {1, kLimitMax}, "show at most so many (10)");
  add_number(peek, "--after", options->after, {}, "only those behind this position (--json shows it)");
  add_reason(peek, *options);
  CLI::App& replay = registry.add_command(
      noun, "replay", "Sends dead letters back: those that are there now. Exit 3: some were refused, and stay.",
      "sluice dlq replay jobs --reason attempts --limit 100",
      [options](Context& context) { return run_replay(context, *options); });
  add_queue(replay, options->queue, queue_help);
  add_reason(replay, *options);
  add_replay_flags(replay, *options);
  CLI::App& purge = registry.add_command(noun, "purge", "Drops dead letters that nobody holds; asks first.",
                                         "sluice dlq purge jobs --force",
                                         [options](Context& context) { return run_purge(context, *options); });
  add_queue(purge, options->queue, queue_help);
  purge.add_flag("--force", options->force, "do not ask");
  CLI::App& rm = registry.add_command(noun, "rm", "Deletes a dead-letter queue and what is in it; asks first.",
                                      "sluice dlq rm jobs --force",
                                      [options](Context& context) { return run_rm(context, *options); });
  add_queue(rm, options->queue, queue_help);
  rm.add_flag("--force", options->force, "do not ask");
}

}  // namespace sluice::cli
