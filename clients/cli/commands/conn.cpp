// sluice conn: ls and close of sessions.

#include "base/units.h"
#include "cli/all_pages.h"
#include "cli/commands/commands.h"
#include "cli/confirm.h"
#include "cli/message_json.h"
#include "cli/options.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kCellColumns = 40;

struct ConnOptions {
  std::uint64_t session = 0;
  bool force = false;
};

Exit run_ls(Context& context) {
  Client client = context.connect("conn ls");
  Table table({{"SESSION", true},
               {"CLIENT"},
               {"AGENT"},
               {"CONSUMERS", true},
               {"CONNECTED", true},
               {"IDLE", true},
               {"OUTBOX", true}});
  const bool terminal = context.out.terminal();
  // Client and agent are what strangers say.
  const auto text = [&](std::string_view bytes) { return terminal ? escape_cut(bytes, kCellColumns) : escape(bytes); };
  const auto time = [&](std::uint64_t ms) { return terminal ? format_duration_ms(ms) : std::to_string(ms); };
  for (const SessionInfo& session : all_sessions(client)) {
    if (context.globals.json) {
      context.out.object(json_of(session));
      continue;
    }
    table.add({std::to_string(session.session), text(session.client), text(session.agent),
               std::to_string(session.consumers), time(session.connected_ms), time(session.idle_ms),
               terminal ? format_bytes(session.outbox_bytes) : std::to_string(session.outbox_bytes)});
  }
  if (!context.globals.json) table.print(context.out);
  return Exit::done;
}

Exit run_close(Context& context, const ConnOptions& options) {
  const std::string number = std::to_string(options.session);
  require_confirmation(options.force, "close session " + number);
  Client client = context.connect("conn close");
  if (!client.close_session(options.session))
    throw Failure(Exit::not_found, kErrorUnknownSession, "unknown_session", "no such session: " + number,
                  "sluice conn ls shows those that there are");
  if (context.globals.json) {
    context.out.object({{"session", options.session}, {"closed", true}});
  } else {
    note("closed session " + number);
  }
  return Exit::done;
}

}  // namespace

void add_conn_commands(Registry& registry) {
  auto options = std::make_shared<ConnOptions>();
  CLI::App& noun = registry.add_noun("conn", "Connected clients: ls, close.");
  registry.add_command(
      noun, "ls",
      "Lists sessions by number. In a pipe tab-separated: session, client, agent, consumers, connected "
      "(ms), idle (ms),\n"
      "bytes in its outbox.",
      "sluice conn ls", [](Context& context) { return run_ls(context); });
  CLI::App& close = registry.add_command(
      noun, "close",
      "Cuts a client off; asks first (exit 4: there is no such session). What it holds goes back to its queues; the "
      "client may connect again.",
      "sluice conn close 17 --force", [options](Context& context) { return run_close(context, *options); });
  add_number(close, "SESSION", options->session, {.min = 1}, "the session's number, see sluice conn ls")
      ->type_name("")
      ->required();
  close.add_flag("--force", options->force, "do not ask");
}

}  // namespace sluice::cli
