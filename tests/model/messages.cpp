// The model's messages and queues: spec/semantics.md "Life of a message", "TTL", "Dead letters", "Delete".
#include <algorithm>

#include "model.h"

namespace sluice::model {

Queue* Model::find(const std::string& name) {
  const auto found = queues_.find(name);
  return found == queues_.end() ? nullptr : &found->second;
}

Queue* Model::find_or_create(const std::string& name, ErrorCode& code) {
  if (Queue* const queue = find(name)) return queue;
  if (!is_queue_name(name)) {
    hit(Corner::bad_queue_name);
    code = ErrorCode::bad_queue_name;
    return nullptr;
  }
  if (!options_.auto_create) {
    hit(Corner::unknown_queue);
    code = ErrorCode::unknown_queue;
    return nullptr;
  }
  if (!has_room_for_queue()) {
    code = ErrorCode::queue_limit;
    return nullptr;
  }
  return &create(name, options_.rules);
}

// Dead-letter queues that are made by need do not ask.
bool Model::has_room_for_queue() {
  if (queues_.size() < options_.queues_max) return true;
  hit(Corner::queue_limit);
  return false;
}

bool Model::has_room_for_binding() {
  std::size_t bindings = 0;
  for (const auto& [name, queue] : queues_) bindings += queue.patterns.size();
  if (bindings < options_.bindings_max) return true;
  hit(Corner::binding_limit);
  return false;
}

Queue& Model::create(const std::string& name, const Rules& rules) {
  Queue& queue = queues_[name];
  queue.name = name;
  queue.rules = rules;
  return queue;
}

std::uint64_t Model::remove(const std::string& name) {
  Queue& queue = queues_.at(name);
  for (const Waiting& waiting : queue.waiting) {
    hit(Corner::blocked_queue_deleted);
    refuse(waiting.session, waiting.sequence, ErrorCode::queue_deleted);
  }
  for (std::size_t i = 0; i < leases_.size();) {
    if (leases_[i].queue != name) {
      ++i;
      continue;
    }
    hit(Corner::deleted_with_leased);
    const Consumer holder = consumer(leases_[i].consumer);
    told.lost.emplace(holder.session, holder.number, leases_[i].number,
                      static_cast<std::uint64_t>(ErrorCode::queue_deleted));
    leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < consumers_.size();) {
    const Consumer& on_it = consumers_[i];
    if (on_it.queue != name) {
      ++i;
      continue;
    }
    if (!on_it.cancelled)
      told.closed.emplace(on_it.session, on_it.number, static_cast<std::uint64_t>(ErrorCode::queue_deleted));
    consumers_.erase(consumers_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const std::uint64_t count = queue.messages.size();
  queue.counters["purged"] += count;
  for (const auto& [counter, value] : queue.counters) retired_[counter] += value;
  queues_.erase(name);
  return count;
}

Message* Model::message_at(Queue& queue, std::uint64_t position) {
  for (Message& message : queue.messages)
    if (message.position == position) return &message;
  return nullptr;
}

void Model::leave(Queue& queue, std::uint64_t position, const std::string& counter) {
  std::erase_if(queue.messages, [&](const Message& message) { return message.position == position; });
  ++queue.counters[counter];
}

void Model::bury(Queue& queue, std::uint64_t position, const std::string& reason) {
  const std::string name = queue.name + ".dlq";
  Queue& dead = find(name) != nullptr ? queues_.at(name) : create(name, options_.rules);
  drop_dead_letters(dead, queue.rules.dead_letter_max - 1);
  Message* const message = message_at(queue, position);
  message->death = Death{queue.name, reason, now_.wall_ms, message->tries};
  message->expires_ms.reset();
  ++queue.counters["dead_lettered"];
  move(queue, position, dead);
}

void Model::drop_dead_letters(Queue& dead, std::uint64_t messages_max) {
  while (dead.messages.size() > messages_max) {
    const auto oldest = std::find_if(dead.messages.begin(), dead.messages.end(),
                                     [](const Message& message) { return message.state != State::leased; });
    if (oldest == dead.messages.end()) return;
    hit(Corner::dead_letter_bound_dropped);
    leave(dead, oldest->position, "dropped");
  }
}

// To the end of another queue, ready, with counters that start anew.
void Model::move(Queue& from, std::uint64_t position, Queue& to) {
  Message message = *message_at(from, position);
  std::erase_if(from.messages, [&](const Message& other) { return other.position == position; });
  message.position = next_position_++;
  message.state = State::ready;
  message.suspect = false;
  message.tries = {};
  to.messages.push_back(message);
  ++to.counters["enqueued"];
}

void Model::expire(Queue& queue, std::uint64_t position) {
  if (queue.is_dead_letters() || queue.rules.on_expiry == "drop") {
    hit(queue.is_dead_letters() ? Corner::expired_dead_letter : Corner::expired_dropped);
    return leave(queue, position, "expired");
  }
  hit(Corner::dead_expired);
  bury(queue, position, "expired");
}

// An attempt has ended. `delay_ms` instead of the backoff.
void Model::failed(Queue& queue, std::uint64_t position, std::optional<std::uint64_t> delay_ms) {
  Message& message = *message_at(queue, position);
  if (!queue.is_dead_letters() && message.tries.attempts() >= queue.rules.max_attempts) {
    hit(Corner::dead_attempts);
    return bury(queue, position, "attempts");
  }
  if (is_expired(message)) {
    hit(Corner::expired_while_leased);
    return expire(queue, position);
  }
  const std::uint64_t wait_ms = delay_ms ? *delay_ms : backoff(queue.rules, message.tries.attempts(), random_);
  if (!delay_ms && wait_ms > 1 && queue.rules.backoff_jitter > 0) hit(Corner::jitter);
  message.state = wait_ms == 0 ? State::ready : State::delayed;
  message.due_ms = now_.moment_ms() + wait_ms;
  if (wait_ms == 0 && message.position != queue.messages.back().position) hit(Corner::returned_to_old_place);
}

}  // namespace sluice::model
