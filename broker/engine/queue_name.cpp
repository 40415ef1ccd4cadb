#include "engine/queue_name.h"

#include <cstdint>
#include <cstdio>

namespace sluice::engine {
namespace {

constexpr std::size_t kNameBytesMax = 255;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_first(char c) { return is_letter_or_digit(c) || c == '_'; }
bool is_inner(char c) { return is_first(c) || c == '.' || c == ':' || c == '@' || c == '-'; }

std::string shown(char c) {
  if (c > ' ' && c <= '~') return std::string("'") + c + "'";
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

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
