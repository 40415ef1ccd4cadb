#include <algorithm>
#include <cmath>

#include "state.h"

namespace sluice::model {
namespace {

constexpr std::uint64_t kDay = 86'400'000;

struct Whole {
  const char* key;
  std::uint64_t Rules::*field;
  std::uint64_t min;
  std::uint64_t max;
};
const Whole kWhole[] = {
    {"lease_ms", &Rules::lease_ms, 100, kDay},
    {"max_attempts", &Rules::max_attempts, 1, 1'000'000},
    {"backoff_initial_ms", &Rules::backoff_initial_ms, 0, kDay},
    {"backoff_max_ms", &Rules::backoff_max_ms, 0, kDay},
    {"max_messages", &Rules::max_messages, 0, 1'000'000'000'000},
    {"max_bytes", &Rules::max_bytes, 0, 1'000'000'000'000'000},
    {"block_timeout_ms", &Rules::block_timeout_ms, 1, 3'600'000},
    {"ttl_ms", &Rules::ttl_ms, 0, 315'360'000'000},
    {"dedup_window_ms", &Rules::dedup_window_ms, 0, kDay},
    {"dead_letter_max", &Rules::dead_letter_max, 1, 10'000'000},
};

bool read_real(const wire::Value& value, double min, double max, double& field) {
  double real = -1;
  if (const auto* whole = value.get_if<std::uint64_t>()) real = static_cast<double>(*whole);
  if (const auto* given = value.get_if<double>()) real = *given;
  field = real;
  return real >= min && real <= max;
}

bool read_choice(const wire::Value& value, const std::vector<std::string>& choices, std::string& field) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr || std::find(choices.begin(), choices.end(), *text) == choices.end()) return false;
  field = *text;
  return true;
}

bool read_key(const std::string& key, const wire::Value& value, Rules& rules) {
  if (key == "backoff_factor") return read_real(value, 1, 100, rules.backoff_factor);
  if (key == "backoff_jitter") return read_real(value, 0, 1, rules.backoff_jitter);
  if (key == "overflow")
    return read_choice(value, {"reject", "block", "drop_oldest", "dead_letter_oldest"}, rules.overflow);
  if (key == "on_expiry") return read_choice(value, {"dead_letter", "drop"}, rules.on_expiry);
  if (key == "durable") {
    const auto* given = value.get_if<bool>();
    if (given != nullptr) rules.durable = *given;
    return given != nullptr;
  }
  for (const Whole& whole : kWhole) {
    if (key != whole.key) continue;
    const auto* given = value.get_if<std::uint64_t>();
    if (given == nullptr || *given < whole.min || *given > whole.max) return false;
    rules.*whole.field = *given;
    return true;
  }
  return false;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found{""};
  for (const char c : text) {
    if (c == '.') {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return found;
}

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
         c == '@' || c == '-';
}

bool is_word(const std::string& word) { return !word.empty() && std::all_of(word.begin(), word.end(), is_word_byte); }

}  // namespace

std::optional<Rules> read_rules(const wire::Map& map, const Rules& base) {
  Rules rules = base;
  for (const auto& [key, value] : map.entries())
    if (!read_key(key, value, rules)) return std::nullopt;
  return rules;
}

wire::Map to_map(const Rules& rules) {
  wire::Map map;
  for (const Whole& whole : kWhole) map.set(whole.key, rules.*whole.field);
  map.set("backoff_factor", rules.backoff_factor).set("backoff_jitter", rules.backoff_jitter);
  map.set("durable", rules.durable);
  map.set("overflow", rules.overflow).set("on_expiry", rules.on_expiry);
  return map;
}

// One draw a backoff, also where there is no wait: the engine's stream and this one stay side by side.
std::uint64_t backoff(const Rules& rules, std::uint64_t attempts, engine::Random& random) {
  const double jitter = 1.0 + rules.backoff_jitter * random.symmetric();
  if (rules.backoff_initial_ms == 0 || rules.backoff_max_ms == 0) return 0;
  const double plain = std::min(static_cast<double>(rules.backoff_max_ms),
                                static_cast<double>(rules.backoff_initial_ms) *
                                    std::pow(rules.backoff_factor, static_cast<double>(attempts) - 1));
  const double wait = std::min(static_cast<double>(rules.backoff_max_ms), plain * jitter);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wait));
}

std::uint64_t Queue::bytes() const {
  std::uint64_t sum = 0;
  for (const Message& message : messages) sum += message.size();
  return sum;
}

std::uint64_t Queue::count(State state) const {
  std::uint64_t sum = 0;
  for (const Message& message : messages) sum += message.state == state ? 1U : 0U;
  return sum;
}

bool Queue::is_dead_letters() const { return is_dead_letter_name(name); }

bool is_dead_letter_name(const std::string& name) { return name.size() > 4 && name.substr(name.size() - 4) == ".dlq"; }

bool is_queue_name(const std::string& name) {
  const std::size_t counted = is_dead_letter_name(name) ? name.size() - 4 : name.size();
  if (counted < 1 || counted > 255) return false;
  const char first = name.front();
  if (!is_word_byte(first) || first == ':' || first == '@' || first == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_word_byte(c) || c == '.'; });
}

bool is_topic(const std::string& topic) {
  const std::vector<std::string> all = words(topic);
  return topic.size() <= 255 && std::all_of(all.begin(), all.end(), is_word);
}

bool is_pattern(const std::string& pattern) {
  const std::vector<std::string> all = words(pattern);
  if (pattern.size() > 255) return false;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!is_word(all[i]) && all[i] != "*" && !(all[i] == "#" && i + 1 == all.size())) return false;
  return true;
}

bool pattern_matches(const std::string& pattern, const std::string& topic) {
  const std::vector<std::string> wanted = words(pattern);
  const std::vector<std::string> given = words(topic);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == "#") return true;
    if (i == given.size() || (wanted[i] != "*" && wanted[i] != given[i])) return false;
  }
  return wanted.size() == given.size();
}

}  // namespace sluice::model
