#include "engine/arguments.h"

#include <algorithm>

namespace sluice::engine {

const wire::Value* Arguments::take(std::string_view key) {
  taken_.push_back(key);
  const wire::Value* const value = map_.find(key);
  return value == nullptr || value->is_nil() ? nullptr : value;
}

void Arguments::refuse(std::string_view key, std::string_view rule) {
  if (!error_) error_ = Error{ErrorCode::bad_field, std::string(key) + ": " + std::string(rule), 0};
}

std::string Arguments::text(std::string_view key, std::optional<std::string> fallback) {
  const wire::Value* const value = take(key);
  if (value == nullptr) {
    if (!fallback) refuse(key, "is missing");
    return fallback.value_or("");
  }
  const auto* text = value->get_if<std::string>();
  if (text == nullptr) refuse(key, "must be text");
  return text == nullptr ? "" : *text;
}

std::uint64_t Arguments::whole(std::string_view key, std::uint64_t fallback, std::uint64_t min, std::uint64_t max) {
  const wire::Value* const value = take(key);
  if (value == nullptr) return fallback;
  const auto* whole = value->get_if<std::uint64_t>();
  if (whole != nullptr && *whole >= min && *whole <= max) return *whole;
  refuse(key, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max) +
                  (whole != nullptr ? ", is " + std::to_string(*whole) : ""));
  return fallback;
}

bool Arguments::flag(std::string_view key) {
  const wire::Value* const value = take(key);
  if (value == nullptr) return false;
  const bool* const flag = value->get_if<bool>();
  if (flag == nullptr) refuse(key, "must be true or false");
  return flag != nullptr && *flag;
}

std::vector<std::uint64_t> Arguments::numbers(std::string_view key) {
  std::vector<std::uint64_t> numbers;
  const wire::Value* const value = take(key);
  if (value == nullptr) return numbers;
  const auto* array = value->get_if<wire::Array>();
  if (array == nullptr) refuse(key, "must be an array of whole numbers");
  if (array == nullptr) return numbers;
  for (const wire::Value& item : *array) {
    const auto* whole = item.get_if<std::uint64_t>();
    if (whole == nullptr) refuse(key, "must hold whole numbers only");
    if (whole != nullptr) numbers.push_back(*whole);
  }
  std::ranges::sort(numbers);
  return numbers;
}

wire::Map Arguments::map(std::string_view key) {
  const wire::Value* const value = take(key);
  if (value == nullptr) return {};
  const auto* map = value->get_if<wire::Map>();
  if (map == nullptr) refuse(key, "must be a map");
  return map == nullptr ? wire::Map() : *map;
}

std::optional<Error> Arguments::error() {
  for (const auto& [key, value] : map_.entries())
    if (std::ranges::find(taken_, key) == taken_.end()) refuse(key, "no argument of this verb");
  return error_;
}

}  // namespace sluice::engine
