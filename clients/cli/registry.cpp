#include "cli/registry.h"

#include <algorithm>
#include <sstream>

#include "cli/options.h"

namespace sluice::cli {
namespace {

// CLI11's own layout, less what says nothing to users ("TEXT", "REQUIRED").
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional() || option->get_type_size() == 0) return {};
    return " " + option->get_type_name();
  }
  // In a list of commands: the first sentence of each.
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string whole = command->get_description();
    const std::size_t end = std::min(whole.find(". "), whole.find(".\n"));
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), end == std::string::npos ? whole : whole.substr(0, end + 1),
                             get_column_width());
    return out.str();
  }
};

}  // namespace

Registry::Registry() : root_("Publishes to, consumes from and looks after a Sluice message broker.", "sluice") {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(34);
  formatter->label("SUBCOMMAND", "COMMAND");
  formatter->label("Subcommands", "Commands");
  formatter->label("Positionals", "Arguments");
  root_.formatter(formatter);
  // With exactly one command, a body or queue that has the name of a command is not taken for it.
  root_.require_subcommand(1);
  add_globals(root_, globals_);
}

CLI::App& Registry::add_noun(const std::string& name, const std::string& help) {
  CLI::App& noun = *root_.add_subcommand(name, help);
  noun.require_subcommand(1);
  noun.group("Commands");
  noun.footer("Each verb has its own --help, with an example.");
  add_globals(noun, globals_);
  return noun;
}

CLI::App& Registry::add_command(CLI::App& parent, const std::string& name, const std::string& help,
                                const std::string& example, Run run) {
  CLI::App& command = *parent.add_subcommand(name, help);
  command.group("Commands");
  command.require_subcommand(0);
  command.footer("Example:\n  " + example);
  command.final_callback([this, run = std::move(run)] { chosen_ = run; });
  add_globals(command, globals_);
  return command;
}

void Registry::add_later_command(CLI::App& parent, const std::string& name) {
  CLI::App& command = *parent.add_subcommand(name)->group("");
  command.set_help_flag("");
  command.require_subcommand(0);
  command.prefix_command();  // whatever follows is not read
  command.preparse_callback([&command](std::size_t) { throw later_failure(path_of(command)); });
}

void Registry::add_later_flag(CLI::App& command, const std::string& flag) {
  command.add_option_function<std::string>(flag, [flag](const std::string&) { throw later_failure(flag); })
      ->expected(0, 1)
      ->group("");
}

std::string path_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  if (parent == nullptr) return {};
  const std::string above = path_of(*parent);
  return above.empty() ? command.get_name() : above + " " + command.get_name();
}

std::string help_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  const std::string above = parent == nullptr ? "" : path_of(*parent);
  const std::string before = parent == nullptr ? "" : above.empty() ? "sluice" : "sluice " + above;
  // CLI11 puts the command's own name behind.
  return CLI::detail::find_and_replace(command.help(before), "\n\n\n", "\n\n");
}

CLI::Option* add_word(CLI::App& command, const std::string& name, std::string& target, const std::string& help) {
  return command.add_option(name, target, help)->required();
}

CLI::Option* add_queue(CLI::App& command, std::string& target, const std::string& help) {
  return add_word(command, "QUEUE", target, help);
}

}  // namespace sluice::cli
