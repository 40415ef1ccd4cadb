// sluice sub: takes messages as they come: prints them, or hands each to a command.

#include <memory>

#include "cli/binding_keeper.h"
#include "cli/commands/commands.h"
#include "cli/options.h"
#include "cli/policy.h"
#include "cli/stop_signals.h"
#include "cli/subscription.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr std::uint32_t kPrefetchMax = 65'535;
constexpr std::uint32_t kPrefetchDefault = 16;
constexpr std::uint32_t kHeldDefault = 1'000;
constexpr std::uint64_t kHeldBytes = std::uint64_t{64} * 1024 * 1024;
constexpr std::uint64_t kParallelMax = 1'024;
constexpr std::chrono::hours kExtendUpTo{12};  // the broker's own cap on a lease

std::uint32_t prefetch_of(const SubOptions& options) {
  std::uint32_t prefetch = kPrefetchDefault;
  if (options.prefetch) {
    prefetch = *options.prefetch;
  } else if (!options.exec.empty()) {
    prefetch = options.parallel;  // nothing waits here while somebody else would have time for it
  } else if (options.no_ack) {
    prefetch = options.count ? kPrefetchMax : kHeldDefault;  // what is held keeps its credit
  }
  if (options.count && *options.count < prefetch) prefetch = static_cast<std::uint32_t>(*options.count);
  return prefetch;
}

ConsumeOptions consume_options(const SubOptions& options) {
  ConsumeOptions consume;
  consume.prefetch = prefetch_of(options);
  if (options.no_ack) consume.prefetch_bytes = kHeldBytes;
  if (!options.exec.empty() || options.no_ack)
    consume.extend_up_to = std::chrono::duration_cast<Milliseconds>(kExtendUpTo);
  if (!options.queue) {
    consume.topic = *options.topic;
    consume.policy = options.policy;
  }
  return consume;
}

void check_combination(const SubOptions& options) {
  if (!options.queue && !options.topic) throw usage_failure("sub: no QUEUE, and no --topic", "see sluice sub --help");
  if (options.topic && options.topic->empty())
    throw usage_failure("sub: --topic must not be empty", "see sluice sub --help");
  if (options.queue && options.queue->empty())
    throw usage_failure("sub: QUEUE must not be empty", "see sluice sub --help");
  if (options.queue && any_set(options.policy))
    throw usage_failure("sub: flags of a policy are for --topic without a QUEUE",
                        "the policy of a queue: sluice queue add, sluice queue edit");
  if (options.no_ack + options.nack + options.reject > 1)
    throw usage_failure("sub: only one of --no-ack, --nack and --reject", "see sluice sub --help");
  if (options.exec.empty()) {
    if (options.parallel > 1) throw usage_failure("sub: --parallel needs --exec", "see sluice sub --help");
    return;
  }
  if (options.no_ack || options.nack || options.reject || options.raw)
    throw usage_failure("sub: --exec settles by the command's exit status, without --raw, --no-ack, --nack or --reject",
                        "see sluice sub --help");
}

// The client calls copies of what it is given: what they remember is shared.
void watch_connection(Client& client, const BindingKeeper& binding, bool unnamed) {
  client.on_state([renew = binding.renewal(), unnamed, lost = std::make_shared<bool>(false)](ConnectionState state,
                                                                                             const std::string& why) {
    if (state == ConnectionState::disconnected) {
      *lost = true;
      note("connection lost (" + why + "), trying again");
    } else if (state == ConnectionState::connected && *lost) {
      *lost = false;
      note(unnamed ? "connected again; what was published to the topic meanwhile was missed" : "connected again");
      renew();
    }
  });
}

std::string named(const Source& source) { return (source.unnamed ? "topics like '" : "queue '") + source.name + "'"; }

Exit run_sub(Context& context, const SubOptions& options) {
  check_combination(options);
  StopSignals signals;
  ClientOptions client_options = context.client_options("sub");
  client_options.reconnect_give_up.reset();  // a worker outlives a restart of its broker
  Client client(context.globals.url, client_options);
  BindingKeeper binding(client);
  watch_connection(client, binding, !options.queue);
  if (options.queue && options.topic) binding.keep({*options.queue, *options.topic});
  Consumer consumer(client, options.queue.value_or(""), consume_options(options));
  consumer.on_stale([](std::uint64_t, std::uint64_t, const ClientError& why) {
    note(std::string("a lease ended early, its message will be delivered again: ") + why.what());
  });
  Subscription subscription(context, options, consumer);
  signals.watch([&consumer] { consumer.close(); }, [&subscription] { subscription.stop_work(); });
  const std::uint64_t taken = subscription.run();
  consumer.close();
  binding.close();
  client.close();
  if (!options.exec.empty())
    note(count_of(taken, "message") + ": " + group_digits(taken - subscription.nacked()) + " acked, " +
         group_digits(subscription.nacked()) + " nacked");
  if (taken == 0 && !signals.stopped() && options.wait_ms)
    throw empty_failure("no message came from " + named(source_of(options)));
  return Exit::done;
}

void add_settling_flags(CLI::App& command, SubOptions& options) {
  command.add_flag("--raw", options.raw, "the payloads' bytes and nothing between them");
  command.add_flag("--no-ack", options.no_ack, "hold what comes, and give it back at the end");
  command.add_flag("--nack", options.nack, "nack each after printing it: it counts as an attempt");
  command.add_flag("--reject", options.reject, "reject each after printing it: to the dead letters");
  command.add_option("--reason", options.reason, "the text that goes with --nack or --reject")->type_name("TEXT");
}

}  // namespace

void add_sub(Registry& registry) {
  auto options = std::make_shared<SubOptions>();
  CLI::App& command = registry.add_command(
      registry.root(), "sub",
      "Takes messages as they come. Prints and acks each, or hands each to a command. SIGINT or SIGTERM: finishes what "
      "has begun.\n"
      "--json: id, queue, delivery_count, attempts, priority, headers, payload (payload_base64 if it is not UTF-8).\n"
      "With --exec: the payload is on the command's stdin, SLUICE_MESSAGE_ID, SLUICE_QUEUE, SLUICE_DELIVERY_COUNT and\n"
      "SLUICE_ATTEMPTS in its environment; exit 0 acks, anything else nacks with the last line of its stderr. The "
      "lease is\n"
      "extended while it runs. --json then tells each outcome, and the command's stdout goes to stderr.\n"
      "With --topic and a QUEUE: binds the queue to the pattern, for good; all who take from it share the messages.\n"
      "With --topic alone: a queue of its own, gone with this command; \"pattern\" and SLUICE_PATTERN stand for its "
      "name. Its\n"
      "policy is the broker's default, or as the flags of `sluice queue add` say, which are taken here as well.",
      "sluice sub jobs --exec 'jq .task' --parallel 4\n"
      "  sluice sub --topic 'orders.*.paid' --max-messages 1000 --overflow drop_oldest\n"
      "  sluice sub billing --topic 'orders.#' --exec ./bill",
      [options](Context& context) { return run_sub(context, *options); });
  command.add_option_function<std::string>(
      "QUEUE", [options](const std::string& queue) { options->queue = queue; },
      "the queue's name; needed without --topic");
  add_text(command, "--topic", options->topic, "PATTERN",
           "what is published to topics that match: words, * for any one, # as the last for any number");
  add_number(command, "-n,--messages", options->count, {.min = 1}, "end after so many messages");
  add_duration(command, "--wait", options->wait_ms, "end when no message came for so long (exit 7: none came at all)");
  add_number(command, "--prefetch", options->prefetch, {1, kPrefetchMax},
             "messages held at a time (16; with --exec: --parallel)");
  add_settling_flags(command, *options);
  command.add_option("--exec", options->exec, "run this shell command for each message")->type_name("CMD");
  add_number(command, "--parallel", options->parallel, {1, kParallelMax}, "commands that run at a time (1)");
  command.option_defaults()->group("With --topic and no QUEUE, of its queue");
  add_policy_flags(command, options->policy);
}

}  // namespace sluice::cli
