#include "engine/dead_letters.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/queue_name.h"

namespace sluice::engine {

void DeadLetters::bury(Message& message, DeadReason reason, Cause cause, const Now& now) {
  Queue& origin = *message.queue;
  SLUICE_CHECK(!origin.dead_letters);
  Queue& dead = queues_.dead_letters_of(origin);
  make_room(dead, origin.policy.dead_letter_max);
  Extras& past = message.extra();
  past.reason = reason;
  past.origin = origin.name;
  past.dead_at_ms = now.wall_ms;
  end_life(message);
  messages_.forget_expiry(message);
  ++origin.counters.dead_lettered;
  messages_.move(message, dead);
  records_.dead_lettered(message, cause);
}

void DeadLetters::expire(Message& message, Cause cause, const Now& now) {
  const Queue& queue = *message.queue;
  if (!queue.dead_letters && queue.policy.on_expiry == OnExpiry::dead_letter)
    return bury(message, DeadReason::expired, cause, now);
  if (cause != Cause::none) records_.returned(message, cause, now);  // that attempt counts
  messages_.end(message, Ended::expired);
}

void DeadLetters::apply_bound(const Queue& origin) {
  if (Queue* const dead = queues_.find(dead_letter_name(origin.name)))
    make_room(*dead, origin.policy.dead_letter_max + 1);
}

// Leased dead letters are somebody's work and stay.
void DeadLetters::make_room(Queue& dead, std::uint64_t messages_max) {
  Message* message = dead.first;
  while (dead.count() >= messages_max && message != nullptr) {
    Message* const next = message->queue_next;
    if (message->state != MessageState::leased) messages_.end(*message, Ended::dropped);
    message = next;
  }
}

Result<ReplayResult> DeadLetters::replay(Queue& dead, const ReplayFilter& filter) {
  if (!dead.dead_letters)
    return fail(ErrorCode::not_a_dead_letter_queue, dead.name + " does not end in " + std::string(kDeadLetterSuffix));
  if (!filter.to.empty()) {
    if (auto error = queue_name_error(filter.to)) return fail(ErrorCode::bad_queue_name, *std::move(error));
    if (filter.to == dead.name) return fail(ErrorCode::bad_field, "replay to " + dead.name + ": the queue itself");
  }
  ReplayResult result;
  ReplayPlan plan;
  const Message* const newest = dead.last;  // "all" means those there when it began
  Message* message = dead.first;
  while (message != nullptr && (filter.limit == 0 || result.replayed < filter.limit)) {
    Message* const next = message == newest ? nullptr : message->queue_next;
    const bool wanted =
        message->state != MessageState::leased &&
        (filter.ids.empty() || std::ranges::binary_search(filter.ids, raw(message->id))) &&
        (filter.reason.empty() || (message->extras != nullptr && name(message->extras->reason) == filter.reason));
    if (wanted) ++(replay_one(*message, filter, plan) ? result.replayed : result.refused);
    message = next;
  }
  return result;
}

bool DeadLetters::replay_one(Message& message, const ReplayFilter& filter, ReplayPlan& plan) {
  const std::string& target = !filter.to.empty() || message.extras == nullptr ? filter.to : message.extras->origin;
  if (filter.dry_run) return would_take(target, message.size(), plan);
  const Result<Queue*> queue = queues_.get_or_create(target);
  if (!queue || is_full(**queue, message.size())) return false;
  ++message.queue->counters.replayed_out;
  begin_life(message);
  messages_.move(message, **queue);
  records_.replayed(message);
  return true;
}

// What is counted is what a replay would do now: those counted before it take their room.
bool DeadLetters::would_take(const std::string& target, std::uint64_t bytes, ReplayPlan& plan) {
  const Queue* const queue = queues_.find(target);
  if (queue == nullptr && !plan.contains(target)) {
    const auto made = static_cast<std::size_t>(
        std::ranges::count_if(plan, [this](const auto& entry) { return queues_.find(entry.first) == nullptr; }));
    if (!queues_.may_create(target, made)) return false;
  }
  ReplayPlan::mapped_type& room = plan[target];
  const Policy& policy = queue != nullptr ? queue->policy : queues_.defaults();
  const std::uint64_t messages = room.messages + (queue != nullptr ? queue->count() : 0);
  const std::uint64_t held_bytes = room.bytes + (queue != nullptr ? queue->bytes : 0);
  if (is_full(policy, messages, held_bytes, bytes)) return false;
  room.messages += 1;
  room.bytes += bytes;
  return true;
}

void end_life(Message& message) {
  Extras& past = message.extra();
  past.dead_deliveries = std::exchange(message.deliveries, 0);
  past.dead_nacks = std::exchange(past.nacks, 0);
  past.dead_expiries = std::exchange(past.expiries, 0);
  past.dead_disconnects = std::exchange(past.disconnects, 0);
  past.dead_releases = std::exchange(past.releases, 0);
  past.dead_restarts = std::exchange(past.restarts, 0);
}

void begin_life(Message& message) {
  message.deliveries = 0;
  if (message.extras == nullptr) return;
  Extras& past = *message.extras;
  past.nacks = past.expiries = past.disconnects = past.releases = past.restarts = 0;
}

wire::Map dead_map(const Message& message) {
  wire::Map map;
  if (message.extras == nullptr || message.extras->reason == DeadReason::none) return map;
  const Extras& past = *message.extras;
  map.set("origin", past.origin)
      .set("reason", name(past.reason))
      .set("error", past.error)
      .set("first_published_ms", message.published_ms)
      .set("dead_at_ms", past.dead_at_ms)
      .set("deliveries", past.dead_deliveries)
      .set("nacks", past.dead_nacks)
      .set("expiries", past.dead_expiries)
      .set("disconnects", past.dead_disconnects)
      .set("releases", past.dead_releases)
      .set("restarts", past.dead_restarts);
  return map;
}

bool is_full(const Policy& policy, std::uint64_t messages, std::uint64_t held_bytes, std::uint64_t bytes) {
  if (policy.max_messages != 0 && messages >= policy.max_messages) return true;
  return policy.max_bytes != 0 && held_bytes + bytes > policy.max_bytes;
}

bool is_full(const Queue& queue, std::uint64_t bytes) {
  return is_full(queue.policy, queue.count(), queue.bytes, bytes);
}

}  // namespace sluice::engine
