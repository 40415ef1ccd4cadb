#pragma once
// engine/queue_name.h: the rule for queue names.
//
// Source   spec/semantics.md "Queue names".

#include <optional>
#include <string>
#include <string_view>

namespace sluice::engine {

inline constexpr std::string_view kDeadLetterSuffix = ".dlq";

// Why `name` is no queue name; nullopt if it is one.
std::optional<std::string> queue_name_error(std::string_view name);
bool is_dead_letter_name(std::string_view name);
std::string dead_letter_name(std::string_view origin);

}  // namespace sluice::engine
