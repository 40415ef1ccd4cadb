#include "config/option.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "base/units.h"
#include "config/address.h"

namespace sluice::config {
namespace {

using Refusal = std::optional<std::string>;
using Texts = std::span<const std::string>;

std::string not_that(const std::string& rule, const std::string& text) { return rule + ", not '" + text + "'"; }

// --- One pair of set and get a type; the row names the member and its range.

template <auto Member, std::uint64_t Min, std::uint64_t Max>
struct Number {
  static Refusal set(Settings& settings, Texts texts) {
    const std::string& text = texts.front();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < Min || value > Max) {
      return not_that("a whole number from " + std::to_string(Min) + " to " + std::to_string(Max), text);
    }
    settings.*Member = value;
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) { return {std::to_string(settings.*Member)}; }
};

template <auto Member, std::uint64_t Min, std::uint64_t Max>
struct Duration {
  static Refusal set(Settings& settings, Texts texts) {
    const auto value = parse_duration_ms(texts.front());
    if (!value) return value.error().text;
    if (*value < Min || *value > Max) {
      return not_that("from " + format_duration_ms(Min) + " to " + format_duration_ms(Max), texts.front());
    }
    settings.*Member = *value;
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) { return {format_duration_ms(settings.*Member)}; }
};

template <auto Member, std::uint64_t Min, std::uint64_t Max>
struct Bytes {
  static Refusal set(Settings& settings, Texts texts) {
    const auto value = parse_bytes(texts.front());
    if (!value) return value.error().text;
    if (*value < Min || *value > Max) {
      return not_that("from " + format_bytes(Min) + " to " + format_bytes(Max), texts.front());
    }
    settings.*Member = *value;
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) { return {format_bytes(settings.*Member)}; }
};

template <auto Member>
struct Toggle {
  static Refusal set(Settings& settings, Texts texts) {
    const std::string& text = texts.front();
    const bool on = text == "on" || text == "true";
    if (!on && text != "off" && text != "false") return not_that("on or off (or true or false)", text);
    settings.*Member = on;
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) { return {settings.*Member ? "on" : "off"}; }
};

// Names in the order of the enumeration's values.
template <auto Member, const auto& Names>
struct Choice {
  static Refusal set(Settings& settings, Texts texts) {
    const auto found = std::ranges::find(Names, texts.front());
    if (found == Names.end()) {
      const std::string all = std::accumulate(
          std::next(Names.begin()), Names.end(), std::string(Names.front()),
          [](std::string out, std::string_view name) { return std::move(out.append(", ").append(name)); });
      return not_that("one of " + all, texts.front());
    }
    settings.*Member = static_cast<std::remove_reference_t<decltype(settings.*Member)>>(found - Names.begin());
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) {
    return {std::string(Names[static_cast<std::size_t>(settings.*Member)])};
  }
};

constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kLogFormats = {"auto", "json", "text"};

struct Listen {
  static Refusal set(Settings& settings, Texts texts) {
    if (texts.empty()) return "at least one address";
    for (const std::string& text : texts) {
      if (const auto good = check_listen_address(text); !good) return good.error().text;
      if (std::ranges::count(texts, text) > 1 && !text.ends_with(":0") && !text.ends_with(":*")) {
        return "each address once, not '" + text + "' again";
      }
    }
    settings.listen.assign(texts.begin(), texts.end());
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) { return settings.listen; }
};

struct DataDir {
  static Refusal set(Settings& settings, Texts texts) {
    settings.data_dir = texts.front();  // empty: none
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) { return {settings.data_dir}; }
};

// always, os, interval, or interval=DURATION.
struct Sync {
  static constexpr std::string_view kInterval = "interval";
  static constexpr std::uint64_t kIntervalMsMax = 60'000;

  static Refusal set(Settings& settings, Texts texts) {
    const std::string_view text = texts.front();
    const std::string_view mode = text.substr(0, text.find('='));
    if (mode != text && mode != kInterval) return not_that("always, interval=DURATION or os", texts.front());
    if (mode == "always") {
      settings.sync = SyncMode::always;
    } else if (mode == "os") {
      settings.sync = SyncMode::os;
    } else if (mode == kInterval) {
      if (mode != text) {
        const auto every_ms = parse_duration_ms(text.substr(mode.size() + 1));
        if (!every_ms) return every_ms.error().text;
        if (*every_ms < 1 || *every_ms > kIntervalMsMax)
          return not_that("an interval from 1ms to " + format_duration_ms(kIntervalMsMax), texts.front());
        settings.sync_interval_ms = *every_ms;
      }
      settings.sync = SyncMode::interval;
    } else {
      return not_that("always, interval=DURATION or os", texts.front());
    }
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) {
    switch (settings.sync) {
      case SyncMode::always:
        return {"always"};
      case SyncMode::interval:
        return {std::string(kInterval) + "=" + format_duration_ms(settings.sync_interval_ms)};
      case SyncMode::os:
        return {"os"};
    }
    return {};
  }
};

struct ConfigFile {
  static Refusal set(Settings& settings, Texts texts) {
    if (texts.front().empty()) return "the name of a file, not an empty text";
    settings.config_file = texts.front();
    return std::nullopt;
  }
  static std::vector<std::string> get(const Settings& settings) { return {settings.config_file}; }
};

constexpr std::uint64_t kHourMs = 3'600'000;
constexpr std::uint64_t kKiB = 1024;

// What one reads from a row that is left out: text, everywhere.
constexpr Option row(std::string_view name, std::string_view value, std::string_view help, Option::Set set,
                     Option::Get get, Kind kind = Kind::text, Scope scope = Scope::everywhere) {
  return Option{name, value, help, kind, scope, {}, set, get};
}

template <class Accessor>
constexpr Option row(std::string_view name, std::string_view value, std::string_view help, Kind kind = Kind::text,
                     Scope scope = Scope::everywhere) {
  return row(name, value, help, &Accessor::set, &Accessor::get, kind, scope);
}

constexpr Option action(std::string_view name, std::string_view help) {
  return Option{name, {}, help, Kind::toggle, Scope::flag_only, {}, nullptr, nullptr};
}

constexpr Option later(std::string_view name, std::string_view value, std::string_view text) {
  return Option{name, value, {}, Kind::text, Scope::everywhere, text, nullptr, nullptr};
}

constexpr std::array kOptions = {
    row<Listen>("listen", "ADDRESS", "where clients connect: tcp://HOST:PORT or ipc://PATH; may be repeated",
                Kind::list),
    row<Toggle<&Settings::insecure>>("insecure", "",
                                     "allow addresses that other machines can reach, without encryption", Kind::toggle),
    row<DataDir>("data", "DIR", "directory of the journal; without it messages are kept in memory only"),
    row<Sync>("sync", "MODE", "confirm when the disk has it (always), or before: interval=DURATION, os"),
    row<Bytes<&Settings::memory_bytes, 0, kKiB * kKiB * kKiB * kKiB>>(
        "memory", "SIZE", "messages in memory; the rest: on disk, or refused without --data; 0: half the machine's"),
    row<Bytes<&Settings::segment_bytes, 64 * kKiB, kKiB * kKiB * kKiB>>("segment-bytes", "SIZE",
                                                                        "a file of the journal, reserved ahead"),
    row<Duration<&Settings::lease_ms, 100, 24 * kHourMs>>("lease", "DURATION",
                                                          "lease of a delivery, for queues without their own"),
    row<Number<&Settings::max_attempts, 1, 1'000'000>>(
        "max-attempts", "N", "failed attempts until a message is a dead letter; 1 = one delivery", Kind::number),
    row<Number<&Settings::dlq_max, 1, 10'000'000>>("dlq-max", "N", "dead letters kept a queue, oldest dropped first",
                                                   Kind::number),
    row<Toggle<&Settings::auto_create>>("auto-create", "on|off",
                                        "publishing to, or consuming from, a new name makes the queue", Kind::on_off),
    row<Duration<&Settings::drain_timeout_ms, 0, kHourMs>>("drain-timeout", "DURATION",
                                                           "after SIGTERM, the longest wait for settlements"),
    row<Number<&Settings::max_sessions, 1, 1'000'000>>("max-sessions", "N", "connected clients", Kind::number),
    row<Number<&Settings::max_queues, 1, 100'000'000>>("max-queues", "N", "queues, those of dead letters included",
                                                       Kind::number),
    row<Bytes<&Settings::frame_bytes_max, kKiB * kKiB, kKiB * kKiB * kKiB>>("frame-bytes-max", "SIZE",
                                                                            "largest frame, and so largest message"),
    row<Choice<&Settings::log_level, kLogLevels>>("log-level", "LEVEL", "debug, info, warn or error"),
    row<Choice<&Settings::log_format, kLogFormats>>("log-format", "FORMAT", "auto (text on a terminal), json or text"),
    row<ConfigFile>("config", "FILE", "a TOML file with the names above as keys", Kind::text, Scope::not_in_file),
    action("check-config", "print every value and where it comes from, and stop"),
    action("version", "print the version and stop"),
    action("help", "print this and stop"),
    later("events", "ADDRESS", "not in this version (the event stream comes with a later release)"),
    later("http", "ADDRESS", "not in this version (metrics and health come with a later release)"),
    later("prefetch", "N", "not in this version (each consumer says how much credit it grants)"),
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> line(b.size() + 1);
  std::iota(line.begin(), line.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = line[0];
    line[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = line[j + 1];
      line[j + 1] = std::min({replaced, line[j] + 1, line[j + 1] + 1});
    }
  }
  return line.back();
}

// Farther away than this, a hint would be a guess.
constexpr std::size_t kEditsMax = 2;
constexpr std::size_t kComparedBytesMax = 64;

}  // namespace

std::string Option::flag() const { return "--" + std::string(name); }

std::string Option::environment() const {
  std::string out(kEnvironmentPrefix);
  for (const char c : name) out += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return out;
}

std::span<const Option> options() { return kOptions; }

const Option* find_option(std::string_view name) {
  const auto found = std::ranges::find(kOptions, name, &Option::name);
  return found == kOptions.end() ? nullptr : &*found;
}

std::string suggestion(std::string_view wrong, std::string (*decorate)(const Option&)) {
  if (wrong.size() > kComparedBytesMax) return {};
  std::string nearest;
  std::size_t distance = kEditsMax + 1;
  for (const Option& option : kOptions) {
    std::string name = decorate(option);
    const std::size_t edits = name.empty() ? kEditsMax + 1 : edit_distance(wrong, name);
    if (edits >= distance) continue;
    distance = edits;
    nearest = std::move(name);
  }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace sluice::config
