#include <algorithm>
#include <array>

#include "config/source.h"

namespace sluice::config {
namespace {

// Not ours to judge: those of the `sluice` command and of what it runs for each message, of the build and its tests, and the
// version that images like to state.
constexpr std::array<std::string_view, 12> kForeign = {"SLUICE_URL",      "SLUICE_TIMEOUT",        "SLUICE_JSON",
                                                       "SLUICE_COLOR",    "SLUICE_QUEUE",          "SLUICE_MESSAGE_ID",
                                                       "SLUICE_LEASE_ID", "SLUICE_DELIVERY_COUNT", "SLUICE_ATTEMPTS",
                                                       "SLUICE_BIN_DIR",  "SLUICE_PROFILE",        "SLUICE_VERSION"};
// Kubernetes adds the first two to every container beside a service that is called sluice.
constexpr std::array<std::string_view, 3> kForeignPrefixes = {"SLUICE_SERVICE_", "SLUICE_PORT", "SLUICE_TEST_"};

bool is_foreign(std::string_view name) {
  return std::ranges::find(kForeign, name) != kForeign.end() ||
         std::ranges::any_of(kForeignPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string variable_of(const Option& option) {
  return option.scope == Scope::flag_only ? std::string() : option.environment();
}

const Option* find_variable(std::string_view name) {
  for (const Option& option : options()) {
    if (variable_of(option) == name) return &option;
  }
  return nullptr;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

void add_variable(std::string_view name, std::string_view value, Source& source) {
  const Option* const option = find_variable(name);
  if (option == nullptr) {
    if (is_foreign(name)) return;
    source.errors.push_back("unknown variable " + std::string(name) + suggestion(name, variable_of));
    return;
  }
  auto texts = option->kind == Kind::list ? split_at_commas(value) : std::vector<std::string>{std::string(value)};
  source.given.push_back({option, std::move(texts), "environment " + std::string(name), std::string(name)});
}

}  // namespace

Source read_environment(const char* const* environment) {
  Source source;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with(kEnvironmentPrefix) || equals == std::string_view::npos) continue;
    const std::string_view value = entry.substr(equals + 1);
    if (!value.empty()) add_variable(entry.substr(0, equals), value, source);
  }
  // The order of the environment is an accident; that of the messages should not be.
  std::ranges::sort(source.errors);
  return source;
}

}  // namespace sluice::config
