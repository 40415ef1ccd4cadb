#include "engine/policy.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "wire/codec.h"

namespace sluice::engine {
namespace {

constexpr std::uint64_t kDayMs = 86'400'000;

struct WholeRule {
  std::string_view key;
  std::uint64_t Policy::*field;
  std::uint64_t min;
  std::uint64_t max;
};
constexpr WholeRule kWhole[] = {
    {"lease_ms", &Policy::lease_ms, kLeaseMsMin, kLeaseMsMax},
    {"max_attempts", &Policy::max_attempts, 1, 1'000'000},
    {"backoff_initial_ms", &Policy::backoff_initial_ms, 0, kDayMs},
    {"backoff_max_ms", &Policy::backoff_max_ms, 0, kDayMs},
    {"max_messages", &Policy::max_messages, 0, 1'000'000'000'000},
    {"max_bytes", &Policy::max_bytes, 0, 1'000'000'000'000'000},
    {"block_timeout_ms", &Policy::block_timeout_ms, 1, 3'600'000},
    {"ttl_ms", &Policy::ttl_ms, 0, wire::kDelayMsMax},
    {"dedup_window_ms", &Policy::dedup_window_ms, 0, kDayMs},
    {"dead_letter_max", &Policy::dead_letter_max, 1, 10'000'000},
};

struct RealRule {
  std::string_view key;
  double Policy::*field;
  double min;
  double max;
};
constexpr RealRule kReal[] = {
    {"backoff_factor", &Policy::backoff_factor, 1.0, 100.0},
    {"backoff_jitter", &Policy::backoff_jitter, 0.0, 1.0},
};

constexpr std::string_view kOverflow[] = {"reject", "block", "drop_oldest", "dead_letter_oldest"};
constexpr std::string_view kOnExpiry[] = {"dead_letter", "drop"};

// For texts; a value of a wrong shape is told by its kind.
std::string shown(const wire::Value& value) {
  if (const auto* whole = value.get_if<std::uint64_t>()) return std::to_string(*whole);
  if (const auto* negative = value.get_if<std::int64_t>()) return std::to_string(*negative);
  if (const auto* real = value.get_if<double>()) return std::to_string(*real);
  if (const auto* text = value.get_if<std::string>()) return "'" + text->substr(0, 32) + "'";
  return "of another type";
}

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Result<void> read_whole(const WholeRule& rule, const wire::Value& value, Policy& policy) {
  const auto* whole = value.get_if<std::uint64_t>();
  if (whole == nullptr || *whole < rule.min || *whole > rule.max)
    return fail(ErrorCode::bad_policy, std::string(rule.key) + ": must be a whole number from " +
                                           std::to_string(rule.min) + " to " + std::to_string(rule.max) + ", is " +
                                           shown(value));
  policy.*rule.field = *whole;
  return {};
}

Result<void> read_real(const RealRule& rule, const wire::Value& value, Policy& policy) {
  double real = std::nan("");
  if (const auto* whole = value.get_if<std::uint64_t>()) real = static_cast<double>(*whole);
  if (const auto* given = value.get_if<double>()) real = *given;
  if (!(real >= rule.min && real <= rule.max))  // also catches NaN
    return fail(ErrorCode::bad_policy, std::string(rule.key) + ": must be a number from " + number(rule.min) + " to " +
                                           number(rule.max) + ", is " + shown(value));
  policy.*rule.field = real;
  return {};
}

// The place of the text in `names`, as the enumeration has it.
template <class Choice>
Result<void> read_choice(std::string_view key, std::span<const std::string_view> names, const wire::Value& value,
                         Choice& choice) {
  const auto* text = value.get_if<std::string>();
  std::string listed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text != nullptr && *text == names[i]) {
      choice = static_cast<Choice>(i);
      return {};
    }
    listed.append(i == 0 ? "" : ", ").append(names[i]);
  }
  return fail(ErrorCode::bad_policy, std::string(key) + ": must be one of " + listed + ", is " + shown(value));
}

Result<void> read_flag(std::string_view key, const wire::Value& value, bool& flag) {
  const auto* given = value.get_if<bool>();
  if (given == nullptr)
    return fail(ErrorCode::bad_policy, std::string(key) + ": must be true or false, is " + shown(value));
  flag = *given;
  return {};
}

Result<void> read_key(std::string_view key, const wire::Value& value, Policy& policy) {
  for (const WholeRule& rule : kWhole)
    if (rule.key == key) return read_whole(rule, value, policy);
  for (const RealRule& rule : kReal)
    if (rule.key == key) return read_real(rule, value, policy);
  if (key == "overflow") return read_choice(key, kOverflow, value, policy.overflow);
  if (key == "durable") return read_flag(key, value, policy.durable);
  if (key == "on_expiry") return read_choice(key, kOnExpiry, value, policy.on_expiry);
  return fail(ErrorCode::bad_policy, "no policy key of this broker: " + std::string(key));
}

}  // namespace

Result<Policy> read_policy(const wire::Map& map, const Policy& base) {
  Policy policy = base;
  for (const auto& [key, value] : map.entries()) {
    const Result<void> read = read_key(key, value, policy);
    if (!read) return tl::unexpected<Error>(read.error());
  }
  return policy;
}

wire::Map to_map(const Policy& policy) {
  wire::Map map;
  for (const WholeRule& rule : kWhole) map.set(std::string(rule.key), policy.*rule.field);
  for (const RealRule& rule : kReal) map.set(std::string(rule.key), policy.*rule.field);
  map.set("overflow", kOverflow[static_cast<std::size_t>(policy.overflow)]);
  map.set("on_expiry", kOnExpiry[static_cast<std::size_t>(policy.on_expiry)]);
  map.set("durable", policy.durable);
  return map;
}

std::uint64_t backoff_ms(const Policy& policy, std::uint64_t attempts, Random& random) {
  const double jitter = 1.0 + policy.backoff_jitter * random.symmetric();  // drawn always: the stream stays the same
  if (policy.backoff_initial_ms == 0 || policy.backoff_max_ms == 0) return 0;
  const auto cap = static_cast<double>(policy.backoff_max_ms);
  const double exponent = static_cast<double>(std::min<std::uint64_t>(attempts, 1'000'001)) - 1.0;
  // pow() goes to infinity for large exponents, and min() brings it back: nothing wraps.
  const double plain =
      std::min(cap, static_cast<double>(policy.backoff_initial_ms) * std::pow(policy.backoff_factor, exponent));
  const double wait = std::min(cap, plain * jitter);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wait));
}

}  // namespace sluice::engine
