#include "config/text.h"

#include <algorithm>

#include "config/option.h"

namespace sluice::config {
namespace {

std::string pad(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string flag_column(const Option& option) {
  std::string text = "  " + option.flag();
  if (option.kind != Kind::toggle) text.append(" ").append(option.value);
  return text;
}

std::string default_of(const Option& option) {
  if (option.get == nullptr) return {};
  std::string text = option.get(Settings{}).front();
  return text.empty() ? text : " [" + text + "]";
}

template <class Predicate>
std::string help_lines(Predicate wanted) {
  std::size_t width = 0;
  for (const Option& option : options()) width = std::max(width, flag_column(option).size() + 2);
  std::string out;
  for (const Option& option : options()) {
    if (!wanted(option)) continue;
    out += pad(flag_column(option), width);
    out.append(option.later.empty() ? option.help : option.later).append(default_of(option)).append("\n");
  }
  return out;
}

// A TOML basic string.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append("\\").append(1, c);
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\u00").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 0xfU]);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string toml_value(const Option& option, const std::vector<std::string>& values) {
  if (option.kind == Kind::number) return values.front();
  if (option.kind == Kind::toggle || option.kind == Kind::on_off) return values.front() == "on" ? "true" : "false";
  if (option.kind == Kind::text) return quoted(values.front());
  std::string out;
  for (const std::string& value : values) out.append(out.empty() ? "[" : ", ").append(quoted(value));
  return out + "]";
}

}  // namespace

std::string help_text() {
  const auto is_setting = [](const Option& option) { return option.later.empty() && option.scope != Scope::flag_only; };
  const auto is_action = [](const Option& option) { return option.scope == Scope::flag_only; };
  const auto is_later = [](const Option& option) { return !option.later.empty(); };
  return "sluiced: the Sluice message broker. Starts without arguments; [default]\n\n"
         "Usage: sluiced [flags]\n\nSettings\n" +
         help_lines(is_setting) + "\nInstead of serving\n" + help_lines(is_action) + "\nTaken names\n" +
         help_lines(is_later) +
         "\nEvery setting is also an environment variable (--drain-timeout: SLUICE_DRAIN_TIMEOUT; several addresses\n"
         "are divided by commas) and a key of the file (drain-timeout = \"10s\"). A flag beats a variable, a variable\n"
         "the file. Durations: 250ms, 5s, 2m, 1.5h, 10d. Sizes: 512, 64KiB, 8MiB, 1GB.\n"
         "Exit codes: 0 done, 1 failed, 2 usage or configuration.\n";
}

std::string version_text() { return "sluiced " SLUICE_VERSION "\n"; }

std::string check_config_text(const Loaded& loaded) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Origin& origin : loaded.origins) {
    const Option* const option = find_option(origin.name);
    std::string setting = origin.name + " = " + toml_value(*option, origin.values);
    if (option->scope != Scope::everywhere) setting.insert(0, "# ");  // could not be read back from a file
    lines.emplace_back(std::move(setting), origin.origin);
  }
  std::size_t width = 0;
  for (const auto& [setting, origin] : lines) width = std::max(width, setting.size() + 2);
  std::string out;
  for (const auto& [setting, origin] : lines) out += pad(setting, width) + "# " + origin + "\n";
  return out;
}

}  // namespace sluice::config
