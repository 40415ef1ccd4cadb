#include "cli/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "cli/suggest.h"
#include "cli/version.h"

namespace sluice::cli {
namespace {

void add_everything(Registry& registry) {
  add_pub(registry);
  add_sub(registry);
  add_get(registry);
  add_peek(registry);
  add_queue_commands(registry);
  add_dlq_commands(registry);
  add_bind_commands(registry);
  add_consumer_commands(registry);
  add_conn_commands(registry);
  add_server_commands(registry);
  add_journal_commands(registry);
  add_bench(registry);
  for (const char* const name : {"top", "monitor", "metrics", "health", "config", "completion", "trace", "explain"}) {
    registry.add_later_command(registry.root(), name);
  }
}

// The command that the line got as far as.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string suggestion(const std::string& typed, const std::vector<std::string>& known) {
  const std::string found = nearest(typed, known);
  return found.empty() ? std::string{} : ", did you mean " + found + "?";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Some of CLI11's errors carry the command's name instead of their own.
bool is(const CLI::ParseError& error, CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); }

// What CLI11 could not place comes first: its own message may only say that something else is missing because of it.
Failure usage_failure_of(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = deepest(root);
  const std::string path = path_of(command);
  const std::string help = "see sluice " + (path.empty() ? "" : path + " ") + "--help";
  const std::string where = path.empty() ? "" : path + ": ";
  std::vector<std::string> unplaced = command.remaining();
  std::erase(unplaced, "--");
  const std::vector<std::string> names = command_names(command);
  if (!unplaced.empty()) {
    const std::string& word = unplaced.front();
    if (word.size() > 1 && word.front() == '-') {
      const std::string flag = word.substr(0, word.find('='));
      return usage_failure(where + "unknown flag " + flag + suggestion(flag, flag_names(command)), help);
    }
    if (!names.empty()) return usage_failure("unknown command '" + word + "'" + suggestion(word, names), help);
    if (is(error, CLI::ExitCodes::ExtrasError))
      return usage_failure(where + "one argument too many: '" + word + "'", help);
  }
  if (is(error, CLI::ExitCodes::RequiredError) && !names.empty())
    return usage_failure(where + "no command given (" + joined(names) + ")", help);
  return usage_failure(where + error.what(), help);
}

// Also when the line cannot be parsed.
bool wants_json(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

bool wants_color(ColorMode mode, int descriptor) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  const char* const no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && no_color[0] != '\0') return false;
  const char* const term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return isatty(descriptor) == 1;
}

int report(const Failure& failure, bool json, ColorMode color) {
  if (json) {
    const Json error = {
        {"code", failure.code()}, {"name", failure.name()}, {"message", failure.what()}, {"hint", failure.hint()}};
    std::printf("%s\n", json_line({{"error", error}}).c_str());
    std::fflush(stdout);
    return static_cast<int>(failure.exit());
  }
  const bool colored = wants_color(color, STDERR_FILENO);
  std::fprintf(stderr, "%ssluice:%s %s\n", colored ? "\033[31m" : "", colored ? "\033[0m" : "", failure.what());
  if (!failure.hint().empty()) std::fprintf(stderr, "  hint: %s\n", failure.hint().c_str());
  return static_cast<int>(failure.exit());
}

int print_version(bool json) {
  if (json) {
    std::printf("%s\n", json_line({{"version", kVersion}, {"protocol", kProtocol}}).c_str());
  } else {
    std::printf("sluice %s (protocol %d)\n", kVersion, kProtocol);
  }
  return std::fflush(stdout) == 0 ? 0 : static_cast<int>(Exit::failed);
}

int run_chosen(Registry& registry) {
  const Globals& globals = registry.globals();
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  Output out(stdout, {terminal, wants_color(globals.color, STDOUT_FILENO)});
  Context context{globals, out};
  const Exit exit = registry.chosen()(context);
  out.flush();
  return static_cast<int>(exit);
}

int parse_and_run(Registry& registry, const std::vector<std::string>& arguments, bool& version) {
  try {
    registry.root().parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    std::printf("%s", help_of(deepest(registry.root())).c_str());
    return std::fflush(stdout) == 0 ? 0 : static_cast<int>(Exit::failed);
  } catch (const CLI::ParseError& error) {
    if (version) return print_version(registry.globals().json);
    throw usage_failure_of(registry.root(), error);
  }
  return run_chosen(registry);
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  Registry registry;
  const char* const url = std::getenv("SLUICE_URL");
  if (url != nullptr && url[0] != '\0') registry.globals().url = url;
  bool version = false;
  registry.root().add_flag_callback(
      "--version", [&version] { version = true; }, "print the version and end");
  registry.root().footer(
      "Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 partly, 4 not found,\n"
      "  5 cannot connect or timed out, 6 denied, 7 empty.\n"
      "Example:\n  sluice pub jobs 'hello' && sluice get jobs");
  add_everything(registry);
  const bool json = wants_json(arguments);
  try {
    return parse_and_run(registry, arguments, version);
  } catch (const Failure& failure) {
    return report(failure, json, registry.globals().color);
  } catch (const ClientError& error) {
    return report(failure_of(error), json, registry.globals().color);
  }
}

}  // namespace sluice::cli
