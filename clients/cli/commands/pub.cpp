// sluice pub: publishes a body, a file, or a message a line.

#include <unistd.h>

#include <chrono>

#include "cli/commands/commands.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/publisher.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr double kRateMax = 10'000'000;

struct PubOptions {
  std::optional<std::string> first;  // as they stand in the line
  std::optional<std::string> second;
  std::optional<std::string> topic;
  std::optional<std::string> dedup_key;
  std::string target;  // the queue or the topic
  std::string body;
  std::string file;
  Headers headers;
  std::uint64_t delay_ms = 0;
  std::optional<std::uint64_t> ttl_ms;
  std::optional<int> priority;
  std::uint64_t count = 1;
  double rate = 0;
  bool has_body = false;
  bool lines = false;
  bool ids = false;
};

void add_header(Headers& headers, const std::string& flag, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos)
    throw CLI::ValidationError(flag, "must be KEY:VALUE, not '" + text + "'");
  const std::size_t value = text.find_first_not_of(' ', colon + 1);
  headers[text.substr(0, colon)] = value == std::string::npos ? std::string{} : text.substr(value);
}

constexpr const char* kHint = "see sluice pub --help";

// With --topic, what stands in the place of the queue is the body.
void place_words(PubOptions& options) {
  if (options.topic && options.second)
    throw usage_failure("pub: QUEUE and --topic exclude each other: with --topic only a BODY follows", kHint);
  if (!options.topic && !options.first) throw usage_failure("pub: no QUEUE, and no --topic", kHint);
  options.target = options.topic ? *options.topic : *options.first;
  const std::optional<std::string>& body = options.topic ? options.first : options.second;
  options.has_body = body.has_value();
  options.body = body.value_or("");
}

void check_combination(const PubOptions& options) {
  const std::string hint = kHint;
  if (options.has_body && !options.file.empty()) throw usage_failure("pub: BODY and --file exclude each other", hint);
  if (options.lines && options.has_body && options.body != "-")
    throw usage_failure("pub: --lines reads stdin or --file, without a BODY", hint);
  if (!options.lines && !options.has_body && options.file.empty())
    throw usage_failure("pub: no body: give BODY, - for stdin, --file FILE, or --lines", hint);
  if (!options.dedup_key) return;
  if (options.dedup_key->empty()) throw usage_failure("pub: --dedup-key must not be empty", hint);
  if (options.lines)
    throw usage_failure("pub: --dedup-key goes with one body: of many lines only the first would be kept", hint);
}

std::string body_of(const PubOptions& options, Input& input) {
  return options.file.empty() && options.body != "-" ? options.body : input.whole();
}

void publish_lines(Publisher& publisher, const PubOptions& options, Input& input) {
  std::uint64_t number = 0;
  while (const std::optional<std::string_view> line = input.line()) {
    for (std::uint64_t i = 0; i < options.count; ++i) publisher.publish(*line, ++number);
  }
}

void publish_body(Publisher& publisher, const PubOptions& options, const std::string& body) {
  for (std::uint64_t number = 1; number <= options.count; ++number) publisher.publish(body, number);
}

// Ids of many are asked for with --ids; without, the account is told once.
void report(Context& context, const PubOptions& options, const Publisher::Account& account, double seconds) {
  if (context.globals.json) {
    context.out.object({{options.topic ? "topic" : "queue", options.target},
                        {"published", account.published},
                        {"refused", account.refused},
                        {"first_id", account.first_id},
                        {"last_id", account.last_id},
                        {"seconds", seconds}});
    return;
  }
  const std::string refused = account.refused == 0 ? "" : ", " + group_digits(account.refused) + " refused";
  note("published " + count_of(account.published, "message") + " to " + (options.topic ? "topic " : "") +
       options.target + refused);
}

Exit judge(const Publisher::Account& account, bool single) {
  if (!account.refusal) return Exit::done;
  const Failure& refusal = *account.refusal;
  if (single) throw refusal;
  const std::string message = "message " + std::to_string(account.refused_number) + ": " + refusal.what();
  const Exit exit = account.published > 0 ? Exit::partly : refusal.exit();
  throw Failure(exit, refusal.code(), refusal.name(), message, refusal.hint());
}

PublishOptions publish_options(const PubOptions& options) {
  PublishOptions publish;
  publish.headers = options.headers;
  publish.priority = options.priority;
  publish.delay = Milliseconds(options.delay_ms);
  if (options.ttl_ms) publish.ttl = Milliseconds(*options.ttl_ms);
  if (options.dedup_key) publish.dedup_key = *options.dedup_key;
  publish.to_topic = options.topic.has_value();
  return publish;
}

Exit run_pub(Context& context, PubOptions& options) {
  place_words(options);
  check_combination(options);
  const bool single = !options.lines && options.count == 1;
  const bool print_ids = options.ids || single;
  // Before connecting: what cannot be read needs no broker to be an error.
  Input input(options.file);
  const std::string body = options.lines ? std::string{} : body_of(options, input);
  Client client = context.connect("pub");
  Publisher publisher(client, context.out,
                      {options.target, publish_options(options), print_ids, context.globals.json, options.rate});
  const auto begun = std::chrono::steady_clock::now();
  if (options.lines) {
    publish_lines(publisher, options, input);
  } else {
    publish_body(publisher, options, body);
  }
  const Publisher::Account account = publisher.finish(context.timeout());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!print_ids) report(context, options, account, took.count());
  return judge(account, single);
}

}  // namespace

void add_pub(Registry& registry) {
  auto options = std::make_shared<PubOptions>();
  CLI::App& command =
      registry.add_command(registry.root(), "pub",
                           "Publishes, and ends when every message is confirmed. Prints the id of a single message; of "
                           "many, an account on stderr\n"
                           "(with --json an object on stdout), or every id with --ids. Exit 3: some were refused.",
                           "tail -n 100 app.log | sluice pub jobs --lines -H source:app\n"
                           "  sluice pub --topic orders.eu.paid '{\"order\": 17}' --dedup-key order-17",
                           [options](Context& context) { return run_pub(context, *options); });
  const auto add_positional = [&command](const std::string& name, std::optional<std::string>& target,
                                         const std::string& help) {
    command.add_option_function<std::string>(
        name, [&target](const std::string& text) { target = text; }, help);
  };
  add_positional("QUEUE", options->first, "the queue's name; none with --topic");
  add_positional("BODY", options->second, "the payload; - reads all of stdin");
  add_text(command, "--topic", options->topic, "TOPIC",
           "instead of QUEUE: to every queue that is bound to a matching pattern (exit 4: there is none)");
  command.add_flag("--lines", options->lines, "one message a line of stdin (or of --file)");
  command.add_option("--file", options->file, "read this file instead of stdin")->type_name("FILE");
  command
      .add_option_function<std::vector<std::string>>(
          "-H,--header",
          [options](const std::vector<std::string>& headers) {
            for (const std::string& header : headers) add_header(options->headers, "--header", header);
          },
          "a header; may be repeated")
      ->type_name("KEY:VALUE")
      ->allow_extra_args(false);
  add_duration(command, "--delay", options->delay_ms, "not to be delivered before this long from now");
  add_duration(command, "--ttl", options->ttl_ms, "not to be delivered after this long from now (the queue's)");
  add_text(command, "--dedup-key", options->dedup_key, "KEY",
           "a second message of this key is not kept: its id is that of the first");
  add_number(command, "--priority", options->priority, {0, 9}, "0 to 9, higher first (4)");
  add_number(command, "--count", options->count, {.min = 1}, "publish each so many times (1)");
  add_decimal(command, "--rate", options->rate, 0.001, kRateMax, "messages a second (as fast as possible)");
  command.add_flag("--ids", options->ids, "print the id of every message as it is confirmed");
}

}  // namespace sluice::cli
