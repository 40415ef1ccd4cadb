// sluice server: info, drain.

#include "cli/commands/commands.h"
#include "cli/confirm.h"
#include "cli/facts.h"
#include "cli/message_json.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

struct DrainOptions {
  bool force = false;
};

Exit run_info(Context& context) {
  Client client = context.connect("server info");
  const ServerInfo server = client.server_info();
  if (context.globals.json) {
    context.out.object(json_of(server));
    return Exit::done;
  }
  Facts facts(context.out);
  facts.add("version", server.version);
  facts.add("protocol", server.protocol);
  facts.add("sync", server.sync);
  facts.add_duration("uptime_ms", server.uptime_ms);
  facts.add("sessions", server.sessions);
  facts.add("consumers", server.consumers);
  facts.add("queues", server.queues);
  facts.add("ready", server.ready);
  facts.add("delayed", server.delayed);
  facts.add("leased", server.leased);
  facts.add_size("memory_bytes", server.memory_bytes);
  for (const auto& [name, value] : server.counters) facts.add(name, value);
  facts.print();
  return Exit::done;
}

// A broker that keeps its data in memory loses what is in its queues.
void confirm_loss(const ServerInfo& server, bool force) {
  const std::uint64_t messages = server.ready + server.delayed;
  if (server.sync != "memory" || messages == 0) return;
  require_confirmation(force,
                       "end the broker, and lose " + count_of(messages, "message") + " that it has in memory only");
}

Exit run_drain(Context& context, const DrainOptions& options) {
  Client client = context.connect("server drain");
  const ServerInfo server = client.server_info();
  confirm_loss(server, options.force);
  client.drain_server();
  if (context.globals.json) {
    context.out.object({{"draining", true}, {"leased", server.leased}});
  } else {
    note("the broker drains: it waits for " + count_of(server.leased, "lease") + ", and ends");
  }
  return Exit::done;
}

}  // namespace

void add_server_commands(Registry& registry) {
  CLI::App& noun = registry.add_noun("server", "The broker: info, drain.");
  registry.add_command(noun, "info", "Shows version, sync mode, load and counters of the broker.",
                       "sluice server info --json", [](Context& context) { return run_info(context); });
  auto options = std::make_shared<DrainOptions>();
  CLI::App& drain = registry.add_command(
      noun, "drain",
      "Ends the broker: it takes and delivers nothing more, lets what is leased be settled for --drain-timeout of "
      "sluiced, and exits.\n"
      "Asks first if messages would be lost with it. Ends when the drain has begun.",
      "sluice server drain --force", [options](Context& context) { return run_drain(context, *options); });
  drain.add_flag("--force", options->force, "do not ask");
  registry.add_later_command(noun, "log-level");
}

}  // namespace sluice::cli
