#include "engine/queue_name.h"

#include <cstddef>

#include "engine/name_bytes.h"

namespace sluice::engine {
namespace {

constexpr std::size_t kNameBytesMax = 255;

bool is_first(char c) { return is_letter_or_digit(c) || c == '_'; }
bool is_inner(char c) { return is_word_byte(c) || c == '.'; }

}  // namespace

std::optional<std::string> queue_name_error(std::string_view name) {
  if (name.empty()) return "a queue name has 1 to 255 bytes, this one is empty";
  const std::size_t counted = is_dead_letter_name(name) ? name.size() - kDeadLetterSuffix.size() : name.size();
  if (counted > kNameBytesMax)
    return "a queue name has at most 255 bytes (beside .dlq), this one has " + std::to_string(counted);
  if (!is_first(name.front()))
    return "a queue name begins with a letter, a digit or _, this one with " + shown(name.front());
  for (std::size_t i = 1; i < name.size(); ++i)
    if (!is_inner(name[i]))
      return "a queue name has letters, digits and . _ : @ - only, this one has " + shown(name[i]) + " at byte " +
             std::to_string(i);
  return std::nullopt;
}

bool is_dead_letter_name(std::string_view name) {
  return name.size() > kDeadLetterSuffix.size() && name.ends_with(kDeadLetterSuffix);
}

std::string dead_letter_name(std::string_view origin) { return std::string(origin).append(kDeadLetterSuffix); }

}  // namespace sluice::engine
