#pragma once
// cli/registry.h: the tree of commands; each file of commands/ adds its own.
//
// Place    command_line → [registry] ← commands/*.
// Owns     the CLI11 tree and the global flags' values; commands keep their options in what they hand to add_command().

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/context.h"
#include "cli/failure.h"

namespace sluice::cli {

class Registry {
 public:
  using Run = std::function<Exit(Context& context)>;

  Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  CLI::App& root() { return root_; }
  Globals& globals() { return globals_; }
  // The command that the parsed line names; empty before that.
  const Run& chosen() const { return chosen_; }

  // A noun that only holds verbs.
  CLI::App& add_noun(const std::string& name, const std::string& help);
  // `example` is shown under the help, a line each.
  CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& help, const std::string& example,
                        Run run);
  // A verb or flag that a later version has: refused by name, shown in no help.
  void add_later_command(CLI::App& parent, const std::string& name);
  void add_later_flag(CLI::App& command, const std::string& flag);

 private:
  Globals globals_;
  CLI::App root_;
  Run chosen_;
};

// The command as typed behind "sluice": "queue ls"; empty for the root.
std::string path_of(const CLI::App& command);
// What its --help prints.
std::string help_of(const CLI::App& command);

// The positional that nearly every command begins with.
CLI::Option* add_queue(CLI::App& command, std::string& target, const std::string& help = "the queue's name");
// A required word in that place.
CLI::Option* add_word(CLI::App& command, const std::string& name, std::string& target, const std::string& help);

}  // namespace sluice::cli
