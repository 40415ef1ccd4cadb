// The model's consumers, credit and leases: spec/protocol.md sections 8 and 9.
#include <algorithm>

#include "model.h"

namespace sluice::model {
std::uint64_t Model::open_session(std::uint64_t session, const std::string& producer) {
  Session& opened = sessions_[session];
  opened.producer = producer.empty() ? "session " + std::to_string(session) : producer;
  return producers_[opened.producer].last;
}

// What it published and waits is forgotten; what its consumers hold returns; its unnamed subscriptions go.
void Model::close_session(std::uint64_t session) {
  forget_waiting(session);
  // The specification leaves the order open: by number, then the cancelled ones as they were cancelled.
  std::vector<Consumer> mine;
  for (const Consumer& each : consumers_)
    if (each.session == session) mine.push_back(each);
  std::sort(mine.begin(), mine.end(), [](const Consumer& a, const Consumer& b) {
    return a.cancelled == b.cancelled && !a.cancelled ? a.number < b.number : a.cancelled_as < b.cancelled_as;
  });
  for (const Consumer& each : mine) {
    std::vector<std::uint64_t> numbers;
    for (const Lease& lease : leases_)
      if (lease.consumer == each.key) numbers.push_back(lease.number);
    std::sort(numbers.begin(), numbers.end());
    for (const std::uint64_t number : numbers) holder_gone(number);
  }
  for (const Consumer& each : mine) {
    if (each.reserved) hit(Corner::reserved_consumer_gone);
    std::erase_if(consumers_, [&](const Consumer& other) { return other.key == each.key; });
  }
  for (const Consumer& each : mine) {
    if (!each.owns_queue || find(each.queue) == nullptr || each.cancelled) continue;
    hit(Corner::unnamed_session_gone);
    remove(each.queue);
  }
  const bool named = sessions_[session].producer.substr(0, 8) != "session ";
  if (!named) producers_.erase(sessions_[session].producer);
  sessions_.erase(session);
}

void Model::consume(std::uint64_t session, const wire::Consume& frame) {
  const Outcome outcome = add_consumer(session, frame);
  told.replies.push_back({session, frame.request, outcome.code, outcome.result});
}

Model::Outcome Model::add_consumer(std::uint64_t session, const wire::Consume& frame) {
  const auto error = [](ErrorCode code) { return Outcome{static_cast<std::uint64_t>(code), {}}; };
  if (consumer(session, frame.consumer) != nullptr) return error(ErrorCode::consumer_exists);
  std::uint64_t mine = 0;
  for (const Consumer& each : consumers_) mine += each.session == session && !each.cancelled ? 1U : 0U;
  if (mine >= options_.consumers_max) {
    hit(Corner::consumer_limit);
    return error(ErrorCode::consumer_limit);
  }
  if (frame.credit_messages > options_.credit_messages_max || frame.credit_bytes > options_.credit_bytes_max)
    return error(ErrorCode::bad_credit);
  Consumer made;
  made.queue = frame.queue;
  if (frame.topic.empty()) {
    if (!frame.policy.empty()) return error(ErrorCode::bad_field);
    ErrorCode code{};
    if (find_or_create(made.queue, code) == nullptr) return error(code);
    for (const Consumer& other : consumers_)
      if (other.queue == made.queue && other.owns_queue) hit(Corner::unnamed_shared);
  } else {
    if (!frame.queue.empty()) return error(ErrorCode::bad_field);
    if (!is_pattern(std::string(frame.topic))) return error(ErrorCode::bad_topic);
    Rules base = options_.rules;
    base.durable = false;
    const std::optional<Rules> rules = read_rules(frame.policy, base);
    if (!rules) return error(ErrorCode::bad_policy);
    made.queue = "_sub-" + std::to_string(session) + "-" + std::to_string(frame.consumer);
    if (find(made.queue) != nullptr) return error(ErrorCode::policy_conflict);
    if (!has_room_for_binding()) return error(ErrorCode::binding_limit);
    if (!has_room_for_queue()) return error(ErrorCode::queue_limit);
    create(made.queue, *rules).patterns.emplace_back(frame.topic);
    made.owns_queue = true;
    hit(Corner::unnamed_subscription);
  }
  made.key = next_consumer_++;
  made.session = session;
  made.number = frame.consumer;
  made.credit_messages = frame.credit_messages;
  made.credit_bytes = static_cast<std::int64_t>(frame.credit_bytes);
  made.served = next_served_++;
  consumers_.push_back(made);
  return {};
}

void Model::cancel(std::uint64_t session, const wire::Cancel& frame) {
  Consumer* const found = consumer(session, frame.consumer);
  if (found == nullptr) {
    told.replies.push_back({session, frame.request, static_cast<std::uint64_t>(ErrorCode::unknown_consumer), {}});
    return;
  }
  if (found->reserved) hit(Corner::reserved_consumer_gone);
  found->cancelled = true;
  found->cancelled_as = next_served_++;
  found->alone = found->reserved = false;
  if (found->owns_queue) {
    hit(Corner::unnamed_cancelled);
    remove(std::string(found->queue));
  }
  told.replies.push_back({session, frame.request, 0, {}});
}

Lease* Model::lease(std::uint64_t number) {
  for (Lease& lease : leases_)
    if (lease.number == number) return &lease;
  return nullptr;
}

Lease Model::take_lease(std::uint64_t number) {
  const Lease taken = *lease(number);
  std::erase_if(leases_, [&](const Lease& other) { return other.number == number; });
  return taken;
}

std::uint64_t Model::held(std::uint64_t key) const {
  std::uint64_t count = 0;
  for (const Lease& lease : leases_) count += lease.consumer == key ? 1U : 0U;
  for (const auto& [owner, lease] : unnumbered_) count += lease.consumer == key ? 1U : 0U;
  return count;
}

Consumer& Model::consumer(std::uint64_t key) {
  return *std::find_if(consumers_.begin(), consumers_.end(), [&](const Consumer& each) { return each.key == key; });
}

Consumer* Model::consumer(std::uint64_t session, std::uint64_t number) {
  for (Consumer& each : consumers_)
    if (each.session == session && each.number == number && !each.cancelled) return &each;
  return nullptr;
}

void Model::settle(std::uint64_t session, const wire::Settle& frame) {
  SettledFrame answer{session, frame.request, {}};
  for (const wire::Settlement& settlement : frame.settlements)
    for (std::uint64_t number = settlement.first_lease; number <= settlement.last_lease; ++number)
      settle_one(session, settlement, number, answer);
  for (const wire::Grant& given : frame.grants) grant(session, given);
  if (frame.request || !answer.exceptions.empty()) told.settled.push_back(answer);
}

void Model::settle_one(std::uint64_t session, const wire::Settlement& settlement, std::uint64_t number,
                       SettledFrame& answer) {
  Lease* const live = lease(number);
  if (live == nullptr || consumer(live->consumer).session != session) {
    hit(Corner::stale);
    answer.exceptions.emplace_back(number, static_cast<std::uint64_t>(ErrorCode::stale));
    return;
  }
  Queue& queue = queues_.at(live->queue);
  Message& message = *message_at(queue, live->position);
  if (settlement.verb == wire::Verb::extend) {
    const std::uint64_t ends_ms = now_.moment_ms() + settlement.lease_ms.value_or(queue.rules.lease_ms);
    if (ends_ms > live->ends_latest_ms) {
      hit(Corner::lease_capped);
      answer.exceptions.emplace_back(number, static_cast<std::uint64_t>(ErrorCode::lease_cap));
      return;
    }
    hit(Corner::lease_extended);
    live->ends_ms = ends_ms;
    live->set = next_set_++;
    return;
  }
  take_lease(number);
  switch (settlement.verb) {
    case wire::Verb::ack:
      leave(queue, message.position, "acked");
      return;
    case wire::Verb::release:
      hit(message.suspect ? Corner::suspect_released : Corner::released);
      ++queue.counters["released"];
      ++message.tries.releases;
      if (is_expired(message)) {
        hit(Corner::expired_while_leased);
        return expire(queue, message.position);
      }
      message.state = State::ready;
      return;
    case wire::Verb::nack:
      if (settlement.delay_ms) hit(*settlement.delay_ms == 0 ? Corner::nacked_at_once : Corner::nacked_with_delay);
      if (message.suspect) hit(Corner::suspect_nacked);
      ++queue.counters["nacked"];
      ++message.tries.nacks;
      message.error = settlement.reason;
      message.suspect = false;
      return failed(queue, message.position, settlement.delay_ms);
    case wire::Verb::reject:
      ++queue.counters["rejected"];
      message.error = settlement.reason;
      if (queue.is_dead_letters()) {  // there it counts as a nack
        hit(Corner::reject_of_dead_letter);
        ++message.tries.nacks;
        message.suspect = false;
        return failed(queue, message.position, std::nullopt);
      }
      hit(Corner::dead_rejected);
      return bury(queue, message.position, "rejected");
    case wire::Verb::extend:
      return;
  }
}

void Model::grant(std::uint64_t session, const wire::Grant& given) {
  Consumer* const to = consumer(session, given.consumer);
  if (to == nullptr) {
    hit(Corner::grant_to_nobody);
    told.errors.emplace_back(session, static_cast<std::uint64_t>(ErrorCode::unknown_consumer));
    return;
  }
  const std::uint64_t bytes_now = to->credit_bytes > 0 ? static_cast<std::uint64_t>(to->credit_bytes) : 0;
  const bool too_many = given.messages > options_.credit_messages_max - to->credit_messages;
  const bool too_large = given.bytes > options_.credit_bytes_max - bytes_now;
  if (too_many || too_large) {
    hit(Corner::grant_refused);
    told.errors.emplace_back(session, static_cast<std::uint64_t>(ErrorCode::bad_credit));
    return;
  }
  to->credit_messages += given.messages;
  to->credit_bytes += static_cast<std::int64_t>(given.bytes);
}

void Model::holder_gone(std::uint64_t number) {
  const Lease gone = take_lease(number);
  Queue& queue = queues_.at(gone.queue);
  Message& message = *message_at(queue, gone.position);
  ++queue.counters["returned_by_disconnect"];
  ++message.tries.disconnects;
  hit(message.suspect ? Corner::suspect_holder_gone : Corner::holder_gone);
  const bool again = message.suspect;
  message.suspect = true;
  failed(queue, gone.position, again ? std::nullopt : std::optional<std::uint64_t>(0));
}

void Model::lease_ended(std::uint64_t number) {
  const Lease ended = take_lease(number);
  const Consumer holder = consumer(ended.consumer);
  hit(holder.cancelled ? Corner::lease_expired_of_cancelled : Corner::lease_expired);
  told.lost.emplace(holder.session, holder.number, number, static_cast<std::uint64_t>(ErrorCode::lease_expired));
  Queue& queue = queues_.at(ended.queue);
  Message& message = *message_at(queue, ended.position);
  if (message.suspect) hit(Corner::suspect_lease_expired);
  ++queue.counters["expired_leases"];
  ++message.tries.expiries;
  message.suspect = false;
  failed(queue, ended.position, std::nullopt);
}

}  // namespace sluice::model
