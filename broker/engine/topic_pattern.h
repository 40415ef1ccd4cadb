#pragma once
// engine/topic_pattern.h: the rules for topics and patterns, and what matches what.
//
// Place    The words themselves, without an index: engine/topic_index.h answers for many patterns at once, and its
//          tests compare it with matches().
// Source   spec/topics.md sections 1 and 2.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::engine {

inline constexpr std::size_t kTopicBytesMax = 255;  // of a pattern too
inline constexpr std::string_view kAnyWord = "*";
inline constexpr std::string_view kAnyRest = "#";

// Why `topic` cannot be published to; nullopt if it can.
std::optional<std::string> topic_error(std::string_view topic);
// Why nothing can be bound to `pattern`; nullopt if something can.
std::optional<std::string> pattern_error(std::string_view pattern);

// False if either is refused by its rule.
bool matches(std::string_view pattern, std::string_view topic);

// The words of `text`, in `words`; views into it. Empty words count as words.
void split_words(std::string_view text, std::vector<std::string_view>& words);

}  // namespace sluice::engine
