#pragma once
// log/field.h: one named value of an event.
//
// Shapes   the key carries the unit: {"lease_ms", 30000}. Text may hold any bytes: it is escaped.
// Owns     nothing; lives as long as the statement that logs.

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace sluice::log {

using FieldValue = std::variant<std::uint64_t, std::int64_t, bool, double, std::string_view>;

struct Field {
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) constexpr Field(std::string_view name, Integer number) : key(name) {
    if constexpr (std::is_signed_v<Integer>) {
      value = std::int64_t{number};
    } else {
      value = std::uint64_t{number};
    }
  }
  constexpr Field(std::string_view name, std::same_as<bool> auto flag) : key(name), value(flag) {}
  constexpr Field(std::string_view name, double number) : key(name), value(number) {}
  constexpr Field(std::string_view name, std::string_view text) : key(name), value(text) {}
  constexpr Field(std::string_view name, const char* text) : key(name), value(std::string_view(text)) {}
  Field(std::string_view name, const std::string& text) : key(name), value(std::string_view(text)) {}

  std::string_view key;
  FieldValue value;
};

using Fields = std::span<const Field>;

}  // namespace sluice::log
