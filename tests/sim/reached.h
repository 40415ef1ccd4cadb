#pragma once
// sim/reached.h: the faults that can be made and the states that they should lead to, and how often each was reached.
//
// A run of many seeds fails when one of them never was: a simulator that makes no trouble finds none.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::sim {

// clang-format off
// What the seed switches on and off.
#define SLUICE_SIM_FAULTS(X)                                                                                          \
  X(connection_cut) X(connection_half_open) X(peer_not_reading) X(client_frozen) X(client_killed) X(hostile_frames)   \
  X(broker_stalled) X(wall_clock_step) X(session_closed_by_operator) X(reconnect_storm) X(poison_message)             \
  X(late_settlement) X(queue_purged) X(queue_deleted) X(queue_paused) X(policy_edited)                                                           \
  X(broker_killed) X(power_cut) X(killed_between_sends) X(disk_slow) X(disk_full) X(write_failed) X(sync_failed)      \
  X(power_cut_at_disk_call) X(power_cut_in_recovery)

// What a run should come across.
#define SLUICE_SIM_STATES(X)                                                                                          \
  X(confirmed) X(refused_full) X(refused_window) X(confirm_waited) X(topic_fan_out) X(topic_no_route)                 \
  X(deduplicated_by_key) X(resent) X(resent_confirmed_again) X(delivered_again) X(delivered_with_priority)            \
  X(delivered_after_delay) X(lease_expired) X(lease_extended) X(stale_settlement) X(released) X(nacked) X(rejected)   \
  X(dead_lettered) X(dead_letter_delivered) X(replayed) X(expired) X(dropped) X(purged) X(holder_gone)                \
  X(suspect_delivered) X(session_silent) X(session_slow) X(session_malformed) X(hello_again) X(connection_reused)     \
  X(drained_in_order) X(drain_at_deadline) X(order_checked) X(credit_compared) X(queue_drained)                       \
  X(unnamed_subscription) X(recovered) X(torn_tail_cut) X(journal_failed) X(refused_disk_full) X(segment_begun)        \
  X(segment_removed) X(stopped_clean) X(recovered_with_messages) X(lease_returned_by_restart)
// clang-format on

enum class Mark : std::size_t {
#define SLUICE_SIM_ENTRY(name) name,
  SLUICE_SIM_FAULTS(SLUICE_SIM_ENTRY) SLUICE_SIM_STATES(SLUICE_SIM_ENTRY)
#undef SLUICE_SIM_ENTRY
};

inline constexpr std::string_view kMarkNames[] = {
#define SLUICE_SIM_NAME(name) #name,
    SLUICE_SIM_FAULTS(SLUICE_SIM_NAME) SLUICE_SIM_STATES(SLUICE_SIM_NAME)
#undef SLUICE_SIM_NAME
};
inline constexpr std::size_t kMarks = std::size(kMarkNames);

inline constexpr std::size_t kFaults = 0
#define SLUICE_SIM_ONE(name) +1
    SLUICE_SIM_FAULTS(SLUICE_SIM_ONE);
#undef SLUICE_SIM_ONE

struct Reached {
  std::array<std::uint64_t, kMarks> counts{};
  void hit(Mark mark, std::uint64_t times = 1) { counts[static_cast<std::size_t>(mark)] += times; }
  void add(const Reached& other) {
    for (std::size_t i = 0; i < kMarks; ++i) counts[i] += other.counts[i];
  }
};

}  // namespace sluice::sim
