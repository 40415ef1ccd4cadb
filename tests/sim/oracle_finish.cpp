// What became of everything, once the queues are drained: S1, S3, S11, S14.
#include "oracle.h"

namespace sluice::sim {

// Why a message may be gone without anybody having acked it.
bool Oracle::has_excuse(const Sent& sent, const Queue& queue) const {
  return sent.ttl_ms != 0 || queue.may_expire || queue.may_drop || queue.emptied_at > sent.received_at;
}

void Oracle::finish_copy(Sent& sent, Copy& copy, std::map<Queue*, std::uint64_t>& missing) {
  bool ended = copy.acked || copy.maybe_acked;
  bool excused = has_excuse(sent, *copy.queue);
  for (const Copy& other : sent.copies) {
    if (other.queue->origin != copy.queue) continue;
    ended = ended || other.acked || other.maybe_acked;
  }
  if (ended) return;
  ++missing[copy.queue];
  world_.tell("missing: #" + std::to_string(sent.serial) + " in " + copy.queue->name);
  Queue* const dead = copy.queue->dead;
  if (dead != nullptr) excused = excused || has_excuse(sent, *dead) || dead->counters["dropped"] != 0;
  if (excused) return;
  const std::string name = "message #" + std::to_string(sent.serial) + " in queue " + copy.queue->name;
  if (sent.answer == Answer::accepted)
    world_.fail("S1", name + " was confirmed, and was never acked, is not there, and nothing says why");
  world_.fail("S14", name + " is missing, though the same publish is in another queue");
}

// Those that are missing are at most those that the counters tell of.
void Oracle::finish_queue(Queue& queue, std::uint64_t missing) {
  if (queue.name.starts_with("_")) return;  // unnamed subscriptions: their names are not told
  if (queue.deleted || queue.emptied_at == kNever || (queue.dead != nullptr && queue.dead->deleted)) return;
  auto& counters = queue.counters;
  std::uint64_t told = counters["expired"] + counters["dropped"] + counters["purged"];
  if (queue.dead != nullptr)
    told += queue.dead->counters["expired"] + queue.dead->counters["dropped"] + queue.dead->counters["purged"];
  if (missing > told)
    world_.fail("S1", "queue " + queue.name + " misses " + std::to_string(missing) +
                          " confirmed messages, but its counters tell of " + std::to_string(told) + " (enqueued " +
                          std::to_string(counters["enqueued"]) + ", acked " + std::to_string(counters["acked"]) +
                          ", dead_lettered " + std::to_string(counters["dead_lettered"]) + ")");
  if (counters["acked"] < queue.acks || counters["acked"] > queue.acks + queue.maybe_acks)
    world_.fail("S3", "queue " + queue.name + " counts " + std::to_string(counters["acked"]) + " acked, but " +
                          std::to_string(queue.acks) + " acks were confirmed and " + std::to_string(queue.maybe_acks) +
                          " may have been");
  if (queue.origin == nullptr && counters["enqueued"] < queue.entered)
    world_.fail("S3", "queue " + queue.name + " counts " + std::to_string(counters["enqueued"]) + " enqueued, but " +
                          std::to_string(queue.entered) + " were confirmed");
}

void Oracle::finish() {
  std::map<Queue*, std::uint64_t> missing;
  for (Sent& sent : sent_) {
    if (sent.duplicate || sent.answer == Answer::refused) continue;
    bool exists = sent.answer == Answer::accepted;
    for (const Copy& copy : sent.copies) exists = exists || copy.delivered;
    if (!exists) continue;
    for (Copy& copy : sent.copies)
      if (copy.sure && copy.queue->origin == nullptr) finish_copy(sent, copy, missing);
  }
  for (auto& [name, queue] : queues_) finish_queue(queue, missing[&queue]);
}

}  // namespace sluice::sim
