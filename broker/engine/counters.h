#pragma once
// engine/counters.h: what happened in a queue, or in the whole broker, since it began. None ever falls.
//
// enqueued = in the queue now + acked + dead_lettered + dropped + expired + purged + replayed_out, at every moment
// (S3 in the tests).

#include <cstdint>
#include <string>

#include "wire/value.h"

namespace sluice::engine {

struct Counters {
#define SLUICE_COUNTERS(X)                                                                  \
  X(enqueued)  /* entered the queue: published, dead-lettered into it, or replayed to it */ \
  X(delivered) /* deliveries, first and later ones */                                       \
  X(acked)                                                                                  \
  X(nacked)                                                                                 \
  X(released)                                                                               \
  X(rejected)                                                                               \
  X(expired_leases)                                                                         \
  X(returned_by_disconnect)                                                                 \
  X(dead_lettered) /* left for the dead-letter queue */                                     \
  X(dropped)       /* the oldest, pushed out where a newer one needed the room */           \
  X(expired)       /* past their time to live, and not kept as dead letters */              \
  X(purged)        /* by purge, or with a deleted queue */                                  \
  X(deduplicated)  /* publishes that were there already */                                  \
  X(replayed_out)  /* left a dead-letter queue by replay */                                 \
  X(refused)       /* publishes refused */

#define SLUICE_COUNTER_FIELD(name) std::uint64_t name = 0;
  SLUICE_COUNTERS(SLUICE_COUNTER_FIELD)
#undef SLUICE_COUNTER_FIELD

  void add(const Counters& other) {
#define SLUICE_COUNTER_ADD(name) name += other.name;
    SLUICE_COUNTERS(SLUICE_COUNTER_ADD)
#undef SLUICE_COUNTER_ADD
  }

  // What must be in the queue now.
  std::uint64_t expected_in_queue() const {
    return enqueued - acked - dead_lettered - dropped - expired - purged - replayed_out;
  }

  // None ever falls: another sum is another state.
  std::uint64_t sum() const {
    std::uint64_t all = 0;
#define SLUICE_COUNTER_SUM(name) all += name;
    SLUICE_COUNTERS(SLUICE_COUNTER_SUM)
#undef SLUICE_COUNTER_SUM
    return all;
  }

  wire::Map to_map() const {
    wire::Map map;
#define SLUICE_COUNTER_ENTRY(name) map.set(#name, name);
    SLUICE_COUNTERS(SLUICE_COUNTER_ENTRY)
#undef SLUICE_COUNTER_ENTRY
    return map;
  }
};

}  // namespace sluice::engine
