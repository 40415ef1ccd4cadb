#pragma once
// engine/arguments.h: reads the arguments of a request, each once; what is left over is an error.
//
// Errors   bad_field, whose text names the argument, the rule and the value's kind. The first error sticks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/value.h"

namespace sluice::engine {

class Arguments {
 public:
  explicit Arguments(const wire::Map& map) : map_(map) {}

  std::string text(std::string_view key, std::optional<std::string> fallback = std::nullopt);
  std::uint64_t whole(std::string_view key, std::uint64_t fallback, std::uint64_t min, std::uint64_t max);
  bool flag(std::string_view key);
  std::vector<std::uint64_t> numbers(std::string_view key);  // sorted
  wire::Map map(std::string_view key);

  // To be called when all were read.
  std::optional<Error> error();

 private:
  const wire::Value* take(std::string_view key);
  void refuse(std::string_view key, std::string_view rule);

  const wire::Map& map_;
  std::vector<std::string_view> taken_;
  std::optional<Error> error_;
};

}  // namespace sluice::engine
