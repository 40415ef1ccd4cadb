#include "engine/topic_pattern.h"

#include "engine/name_bytes.h"

namespace sluice::engine {
namespace {

bool is_wildcard(char c) { return c == '*' || c == '#'; }

std::string at_byte(std::size_t at) { return " at byte " + std::to_string(at); }

// `kind` is "topic" or "pattern". What both have in common: length, and no empty words.
std::optional<std::string> shape_error(std::string_view text, const std::string& kind) {
  if (text.empty()) return "a " + kind + " has 1 to 255 bytes, this one is empty";
  if (text.size() > kTopicBytesMax)
    return "a " + kind + " has at most 255 bytes, this one has " + std::to_string(text.size());
  bool in_word = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool ends = i == text.size() || text[i] == '.';
    if (ends && !in_word) return "a " + kind + " has no empty words, this one has one" + at_byte(i);
    in_word = !ends;
  }
  return std::nullopt;
}

// The wildcard at `at` must be a word of its own, and if it is # the last one.
std::optional<std::string> wildcard_error(std::string_view pattern, std::size_t at) {
  const bool begins = at == 0 || pattern[at - 1] == '.';
  const bool ends = at + 1 == pattern.size() || pattern[at + 1] == '.';
  if (!begins || !ends)
    return "in a pattern a wildcard is a whole word, this one has " + shown(pattern[at]) + " beside other text" +
           at_byte(at);
  if (pattern[at] == '#' && at + 1 != pattern.size())
    return "in a pattern # is the last word, this one goes on after the one" + at_byte(at);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> topic_error(std::string_view topic) {
  if (auto error = shape_error(topic, "topic")) return error;
  for (std::size_t i = 0; i < topic.size(); ++i) {
    const char c = topic[i];
    if (is_word_byte(c) || c == '.') continue;
    if (is_wildcard(c)) return "a topic has no wildcards, they are for patterns; this one has " + shown(c) + at_byte(i);
    return "a topic has letters, digits and . _ : @ - only, this one has " + shown(c) + at_byte(i);
  }
  return std::nullopt;
}

std::optional<std::string> pattern_error(std::string_view pattern) {
  if (auto error = shape_error(pattern, "pattern")) return error;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (is_word_byte(c) || c == '.') continue;
    if (!is_wildcard(c))
      return "a pattern has letters, digits, . _ : @ - and the wildcards * and # only, this one has " + shown(c) +
             at_byte(i);
    if (auto error = wildcard_error(pattern, i)) return error;
  }
  return std::nullopt;
}

bool matches(std::string_view pattern, std::string_view topic) {
  if (pattern_error(pattern) || topic_error(topic)) return false;
  std::vector<std::string_view> wanted;
  std::vector<std::string_view> given;
  split_words(pattern, wanted);
  split_words(topic, given);
  const bool any_rest = wanted.back() == kAnyRest;
  if (any_rest) wanted.pop_back();
  if (any_rest ? given.size() < wanted.size() : given.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != kAnyWord && wanted[i] != given[i]) return false;
  return true;
}

void split_words(std::string_view text, std::vector<std::string_view>& words) {
  words.clear();
  for (std::size_t from = 0;;) {
    const std::size_t dot = text.find('.', from);
    if (dot == std::string_view::npos) {
      words.push_back(text.substr(from));
      return;
    }
    words.push_back(text.substr(from, dot - from));
    from = dot + 1;
  }
}

}  // namespace sluice::engine
