// sluice peek: looks at messages without taking them.

#include <chrono>

#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/message_json.h"
#include "cli/options.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kPayloadColumns = 60;
constexpr std::uint64_t kLimitMax = 1'000;

struct PeekOptions {
  std::string queue;
  std::uint64_t limit = 10;
  std::uint64_t after = 0;
};

std::string age_of(std::uint64_t published_ms) {
  const auto now =
      std::chrono::duration_cast<Milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto age = now - static_cast<std::int64_t>(published_ms);
  return format_duration_ms(age > 0 ? static_cast<std::uint64_t>(age)
                                    : 0);  // this machine's clock may be behind the broker's
}

void print_table(Output& out, const MessageList& list) {
  Table table({{"ID", true}, {"STATE"}, {"PRIORITY", true}, {"AGE", true}, {"DELIVERIES", true}, {"PAYLOAD"}});
  for (const MessageInfo& message : list.messages) {
    const std::string age = out.terminal() ? age_of(message.published_ms) : std::to_string(message.published_ms);
    const std::string payload = out.terminal() ? escape_cut(message.payload, kPayloadColumns) : escape(message.payload);
    table.add({std::to_string(message.id), message.state, std::to_string(message.priority), age,
               std::to_string(message.deliveries), payload});
  }
  table.print(out);
}

Exit run_peek(Context& context, const PeekOptions& options) {
  Client client = context.connect("peek");
  const MessageList list = client.peek(options.queue, options.limit, options.after);
  if (list.messages.empty()) throw empty_failure("queue '" + options.queue + "' has no message to show");
  if (context.globals.json) {
    for (const MessageInfo& message : list.messages) context.out.object(json_of(message));
  } else {
    print_table(context.out, list);
  }
  if (list.more) note("there are more: --after " + std::to_string(list.messages.back().position));
  return Exit::done;
}

}  // namespace

void add_peek(Registry& registry) {
  auto options = std::make_shared<PeekOptions>();
  CLI::App& command = registry.add_command(
      registry.root(), "peek",
      "Shows messages of every state in order of position, without taking them (exit 7: there is none). In a pipe "
      "tab-separated: id, state,\n"
      "priority, published (Unix ms), deliveries, payload (escaped; at most 64 KiB).",
      "sluice peek jobs -n 3", [options](Context& context) { return run_peek(context, *options); });
  add_queue(command, options->queue);
  add_number(command, "-n,--messages", options->limit, {1, kLimitMax}, "show at most so many (10)");
  add_number(command, "--after", options->after, {}, "only those behind this position (--json shows it)");
}

}  // namespace sluice::cli
