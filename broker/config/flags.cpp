#include <CLI/CLI.hpp>

#include "config/source.h"

namespace sluice::config {
namespace {

constexpr std::string_view kHelpShort = ",-h";

struct Parser {
  CLI::App app{"", "sluiced"};
  std::vector<std::pair<const Option*, CLI::Option*>> parsed;

  Parser() {
    app.set_help_flag();  // a row like the others
    app.allow_extras();   // reported one by one below, instead of only the first
    for (const Option& option : options()) {
      std::string name = option.flag();
      if (option.name == "help") name += kHelpShort;
      CLI::Option* const made = option.kind == Kind::toggle ? app.add_flag(name) : app.add_option(name);
      // Repetition is judged by us, so that the text can say what was given twice.
      made->take_all();
      if (option.kind != Kind::toggle) made->allow_extra_args(false);
      parsed.emplace_back(&option, made);
    }
  }
};

void add_extras(const CLI::App& app, Source& source) {
  for (const std::string& extra : app.remaining()) {
    if (extra == "--") continue;  // only says that no flag follows
    const std::string name = extra.substr(0, extra.find('='));
    std::string text = extra.starts_with('-') ? "unknown flag " + name : "unexpected argument '" + extra + "'";
    if (extra.starts_with('-')) text += suggestion(name, [](const Option& option) { return option.flag(); });
    source.errors.push_back(std::move(text));
  }
}

}  // namespace

Source read_flags(int argc, const char* const* argv) {
  Source source;
  Parser parser;
  try {
    parser.app.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--lease: 1 required ..."
    source.errors.push_back(text.substr(0, text.find(':')) + ": the value is missing");
  } catch (const CLI::ParseError& error) {
    source.errors.emplace_back(error.what());
  }
  add_extras(parser.app, source);
  for (const auto& [option, parsed] : parser.parsed) {
    if (parsed->count() == 0) continue;
    if (parsed->results().size() > 1 && option->kind != Kind::list && option->kind != Kind::toggle) {
      source.errors.push_back(option->flag() + ": given " + std::to_string(parsed->results().size()) + " times");
    }
    source.given.push_back({option, parsed->results(), "flag " + option->flag(), option->flag()});
  }
  return source;
}

}  // namespace sluice::config
