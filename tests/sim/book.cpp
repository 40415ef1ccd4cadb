#include "book.h"

#include <algorithm>
#include <cstring>

#include "engine/random.h"

namespace sluice::sim {
namespace {

// The first word of a topic or pattern, which it is shortened by.
std::string_view take_word(std::string_view& text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view word = text.substr(0, dot);
  text.remove_prefix(std::min(dot + 1, text.size()));
  return word;
}

}  // namespace

std::string payload_of(std::uint64_t serial, std::size_t bytes) {
  std::string payload(bytes, '\0');
  engine::Random random(serial);
  std::uint64_t word = serial;
  for (std::size_t at = 0; at < bytes; at += sizeof word) {
    std::memcpy(payload.data() + at, &word, std::min(sizeof word, bytes - at));
    word = random.next();
  }
  return payload;
}

bool is_payload_of(std::uint64_t serial, std::string_view payload) {
  engine::Random random(serial);
  std::uint64_t word = serial;
  for (std::size_t at = 0; at < payload.size(); at += sizeof word) {
    if (std::memcmp(payload.data() + at, &word, std::min(sizeof word, payload.size() - at)) != 0) return false;
    word = random.next();
  }
  return true;
}

bool matches(std::string_view pattern, std::string_view topic) {
  while (!pattern.empty()) {
    const std::string_view wanted = take_word(pattern);
    if (wanted == "#") return true;
    if (topic.empty()) return false;
    const std::string_view word = take_word(topic);
    if (wanted != "*" && wanted != word) return false;
  }
  return topic.empty();
}

}  // namespace sluice::sim
