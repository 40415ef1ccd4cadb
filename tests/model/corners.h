#pragma once
// model/corners.h: the rare situations that a long run must have reached, and how often it did.
//
// Threads  one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::model {

// clang-format off
#define SLUICE_CORNERS(X)                                                                                      \
  X(dead_rejected) X(dead_attempts) X(dead_expired) X(dead_overflow) X(dead_letter_bound_dropped)              \
  X(dead_bound_lowered) X(expired_while_leased) X(expired_ready) X(expired_delayed) X(expired_dropped)         \
  X(expired_dead_letter) X(reject_of_dead_letter) X(blocked) X(blocked_admitted) X(blocked_timed_out)          \
  X(blocked_moved)                                                                                             \
  X(blocked_handed_over) X(blocked_session_gone) X(blocked_queue_deleted) X(blocked_deduplicated)              \
  X(dropped_oldest) X(overflow_without_room) X(larger_than_queue) X(queue_full) X(dedup_hit)                   \
  X(dedup_hit_of_gone) X(dedup_window_over) X(topic_dedup_hit) X(topic_dedup_window_over) X(resent_accepted)   \
  X(resent_refused) X(sequence_gap) X(window_refused) X(suspect_delivered) X(suspect_nacked)                   \
  X(suspect_lease_expired) X(suspect_released) X(suspect_holder_gone) X(consumer_reserved)                     \
  X(reserved_consumer_gone) X(replayed) X(replay_refused) X(replay_dry_run) X(replay_limited)                  \
  X(replay_by_reason) X(replay_made_queue) X(lease_expired) X(lease_expired_of_cancelled) X(lease_extended)    \
  X(lease_capped) X(stale) X(released) X(nacked_with_delay) X(nacked_at_once) X(holder_gone) X(grant_refused)  \
  X(grant_to_nobody) X(bytes_below_zero) X(returned_to_old_place) X(topic_fan_out) X(topic_no_route)           \
  X(topic_refused_by_one) X(topic_waits) X(unnamed_subscription) X(unnamed_cancelled) X(unnamed_session_gone)  \
  X(unnamed_shared) X(deleted_with_leased) X(purged_with_leased) X(paused_held_back) X(policy_conflict)        \
  X(bad_policy) X(recovered) X(compacted) X(unknown_queue) X(bad_queue_name) X(binding_added_again) X(frame_refused)                     \
  X(missing_taken_back) X(missing_sent_again) X(up_to_behind_missing) X(dead_letters_fill_bound_queue)         \
  X(queue_limit) X(consumer_limit) X(binding_limit) X(jitter) X(drain_holds_back) X(clock_stepped_back)        \
  X(moment_after_turn)
// clang-format on

enum class Corner : std::size_t {
#define SLUICE_CORNER_ENTRY(name) name,
  SLUICE_CORNERS(SLUICE_CORNER_ENTRY)
#undef SLUICE_CORNER_ENTRY
};

inline constexpr std::string_view kCornerNames[] = {
#define SLUICE_CORNER_NAME(name) #name,
    SLUICE_CORNERS(SLUICE_CORNER_NAME)
#undef SLUICE_CORNER_NAME
};
inline constexpr std::size_t kCorners = std::size(kCornerNames);

struct Corners {
  std::array<std::uint64_t, kCorners> counts{};
  void hit(Corner corner) { ++counts[static_cast<std::size_t>(corner)]; }
};

}  // namespace sluice::model
