#pragma once
// record/layout.h: the numbers that writer and reader must agree on. Stored: never renumber.
//
// Place    only inside record.
// Source   spec/journal.md section 5.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/record.h"

namespace sluice::record {

inline constexpr std::size_t kHeadBytes = 5;  // type, length

inline constexpr std::uint8_t kQueuePaused = 1;
inline constexpr std::uint8_t kQueueTemporary = 2;
inline constexpr std::uint8_t kQueueNotDurable = 4;
inline constexpr std::uint8_t kCopySuspect = 1;
inline constexpr std::uint8_t kCopyNew = 2;
inline constexpr std::uint8_t kReturnedSuspect = 1;

// What a message of `published` has beside its body.
inline constexpr std::uint8_t kHasPriority = 1;
inline constexpr std::uint8_t kHasDue = 2;
inline constexpr std::uint8_t kHasExpires = 4;
inline constexpr std::uint8_t kHasDedupKey = 8;
inline constexpr std::uint8_t kHasAll = kHasPriority | kHasDue | kHasExpires | kHasDedupKey;

constexpr std::uint8_t flags_of(std::uint8_t priority, std::uint64_t due_ms, std::uint64_t expires_ms,
                                std::string_view dedup_key) {
  return static_cast<std::uint8_t>((priority != kPriorityDefault ? kHasPriority : 0) | (due_ms != 0 ? kHasDue : 0) |
                                   (expires_ms != 0 ? kHasExpires : 0) | (!dedup_key.empty() ? kHasDedupKey : 0));
}

// The smallest items, against counts that are larger than what follows.
inline constexpr std::size_t kMessageBytesMin = 3;  // flags, two lengths
inline constexpr std::size_t kCopyBytesMin = 15;    // twelve numbers, state, flags, dead; error's length among them
inline constexpr std::size_t kAcceptedBytesMin = 3;
inline constexpr std::size_t kRefusedBytesMin = 4;

inline constexpr std::size_t kNumberBytesMax = 10;

}  // namespace sluice::record
