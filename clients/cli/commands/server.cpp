// sluice server: info.

#include "cli/commands/commands.h"
#include "cli/facts.h"
#include "cli/message_json.h"

namespace sluice::cli {
namespace {

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

}  // namespace

void add_server_commands(Registry& registry) {
  CLI::App& noun = registry.add_noun("server", "The broker: info.");
  registry.add_command(noun, "info", "Shows version, sync mode, load and counters of the broker.",
                       "sluice server info --json", [](Context& context) { return run_info(context); });
  registry.add_later_command(noun, "drain");
}

}  // namespace sluice::cli
