#include "config/load.h"

#include <algorithm>

#include "config/address.h"
#include "config/source.h"
#include "config/text.h"

namespace sluice::config {
namespace {

// Values are quoted in errors, and errors go to a terminal.
bool is_control(char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }

class Loader {
 public:
  Loader() {
    for (const Option& option : options()) {
      if (option.get != nullptr) origins_.push_back({std::string(option.name), option.get(settings_), "default"});
    }
  }

  // Later calls beat earlier ones. A value that is beaten must be good all the same: tomorrow the flag is gone.
  void apply(const Source& source) {
    errors_.insert(errors_.end(), source.errors.begin(), source.errors.end());
    for (const Given& given : source.given) apply(given);
  }

  void check_combinations() {
    if (settings_.insecure) return;
    for (const std::string& address : settings_.listen) {
      if (!check_listen_address(address) || is_local_address(address)) continue;
      errors_.push_back(
          listen_where_ + ": " + address +
          " can be reached by other machines, without encryption or passwords; add --insecure if that is meant");
    }
  }

  bool has_errors() const { return !errors_.empty(); }
  std::vector<std::string> take_errors() {
    for (std::string& error : errors_) std::ranges::replace_if(error, is_control, '?');
    return std::move(errors_);
  }
  Loaded take() { return {std::move(settings_), std::move(origins_), std::nullopt}; }

 private:
  void apply(const Given& given) {
    if (!given.option->later.empty()) {
      errors_.push_back(given.where + ": " + std::string(given.option->later));
      return;
    }
    if (given.option->set == nullptr) return;  // it says what to do: see asked_for()
    if (auto refusal = given.option->set(settings_, given.texts)) {
      errors_.push_back(given.where + ": " + *refusal);
      return;
    }
    Origin& origin = *std::ranges::find(origins_, given.option->name, &Origin::name);
    origin.values = given.option->get(settings_);
    origin.origin = given.origin;
    if (given.option->name == "listen") listen_where_ = given.where;
  }

  Settings settings_;
  std::vector<Origin> origins_;
  std::string listen_where_;  // for check_combinations(); the default needs none
  std::vector<std::string> errors_;
};

bool asked_for(const Source& flags, std::string_view name) {
  return std::ranges::any_of(
      flags.given, [&](const Given& given) { return given.option->name == name && given.texts.back() != "false"; });
}

// The flag, else the variable.
std::string config_file(const Source& flags, const Source& environment) {
  for (const Source* source : {&flags, &environment}) {
    for (const Given& given : source->given) {
      if (given.option->name == "config") return given.texts.front();
    }
  }
  return {};
}

Loaded only_text(std::string text) {
  Loaded loaded;
  loaded.print = std::move(text);
  return loaded;
}

}  // namespace

tl::expected<Loaded, std::vector<std::string>> load(int argc, const char* const* argv, const char* const* environment) {
  const Source flags = read_flags(argc, argv);
  // Whoever asks for help may well have got the rest wrong.
  if (asked_for(flags, "help")) return only_text(help_text());
  if (asked_for(flags, "version")) return only_text(version_text());

  const Source variables = read_environment(environment);
  const std::string path = config_file(flags, variables);
  Loader loader;
  if (!path.empty()) loader.apply(read_file(path));
  loader.apply(variables);
  loader.apply(flags);
  loader.check_combinations();
  if (loader.has_errors()) return tl::unexpected(loader.take_errors());

  Loaded loaded = loader.take();
  if (asked_for(flags, "check-config")) loaded.print = check_config_text(loaded);
  return loaded;
}

}  // namespace sluice::config
