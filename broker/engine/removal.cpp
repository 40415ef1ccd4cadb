#include "engine/removal.h"

namespace sluice::engine {

std::uint64_t Removal::remove(Queue& queue) {
  publisher_.forget(queue);
  consumers_.close_all(queue);
  std::uint64_t count = 0;
  while (queue.first != nullptr) {
    messages_.end(*queue.first, Ended::purged);
    ++count;
  }
  topics_.remove_all(queue);
  retired_.add(queue.counters);
  dispatcher_.forget(queue);
  queues_.erase(queue);
  return count;
}

}  // namespace sluice::engine
