// The model's requests: spec/protocol.md section 10; spec/semantics.md "Policy changes", "Purge", "Replay".
#include <algorithm>

#include "model.h"

namespace sluice::model {
namespace {

std::string text_of(const wire::Map& arguments, const char* key) {
  const wire::Value* const value = arguments.find(key);
  return value == nullptr ? "" : *value->get_if<std::string>();
}

std::uint64_t number_of(const wire::Map& arguments, const char* key, std::uint64_t fallback) {
  const wire::Value* const value = arguments.find(key);
  return value == nullptr ? fallback : *value->get_if<std::uint64_t>();
}

wire::Map map_of(const wire::Map& arguments, const char* key) {
  const wire::Value* const value = arguments.find(key);
  return value == nullptr ? wire::Map() : *value->get_if<wire::Map>();
}

const char* name(State state) {
  switch (state) {
    case State::ready:
      return "ready";
    case State::delayed:
      return "delayed";
    case State::leased:
      return "leased";
  }
  return "";
}

const char* const kCounters[] = {"enqueued",      "delivered",    "acked",          "nacked",
                                 "released",      "rejected",     "expired_leases", "returned_by_disconnect",
                                 "dead_lettered", "dropped",      "expired",        "purged",
                                 "deduplicated",  "replayed_out", "refused"};

}  // namespace

void Model::request(std::uint64_t session, const wire::Request& frame) {
  const Outcome outcome = handle(frame);
  told.replies.push_back({session, frame.request, outcome.code, outcome.result});
}

Model::Outcome Model::handle(const wire::Request& frame) {
  const std::string& verb = frame.verb;
  const wire::Map& arguments = frame.arguments;
  if (verb == "queue.declare") return declare(arguments);
  if (verb.substr(0, 5) == "bind.") return bind(verb, arguments);
  if (verb == "consumer.list") return {0, wire::Map().set("consumers", describe_consumers()).set("more", false)};
  const std::string queue_name = text_of(arguments, "name");
  Queue* const queue = find(queue_name);
  if (queue == nullptr) {
    hit(Corner::unknown_queue);
    return {
        static_cast<std::uint64_t>(is_queue_name(queue_name) ? ErrorCode::unknown_queue : ErrorCode::bad_queue_name),
        {}};
  }
  if (verb == "queue.info") return {0, describe(*queue)};
  if (verb == "queue.edit") return edit(*queue, arguments);
  if (verb == "queue.purge") return purge(*queue);
  if (verb == "queue.peek") return peek(*queue, arguments);
  if (verb == "dlq.replay") return replay(*queue, arguments);
  if (verb == "queue.delete") return {0, wire::Map().set("deleted_messages", remove(queue_name))};
  if (verb == "queue.pause" || verb == "queue.resume") {
    queue->paused = verb == "queue.pause";
    return {0, describe(*queue)};
  }
  return {static_cast<std::uint64_t>(ErrorCode::unknown_verb), {}};
}

Model::Outcome Model::declare(const wire::Map& arguments) {
  const std::string queue_name = text_of(arguments, "name");
  Queue* queue = find(queue_name);
  const bool created = queue == nullptr;
  const std::optional<Rules> rules = read_rules(map_of(arguments, "policy"), created ? options_.rules : queue->rules);
  if (!rules) {
    hit(Corner::bad_policy);
    return {static_cast<std::uint64_t>(ErrorCode::bad_policy), {}};
  }
  if (created) {
    if (!is_queue_name(queue_name)) return {static_cast<std::uint64_t>(ErrorCode::bad_queue_name), {}};
    if (!has_room_for_queue()) return {static_cast<std::uint64_t>(ErrorCode::queue_limit), {}};
    queue = &create(queue_name, *rules);
  } else if (queue->rules != *rules) {
    hit(Corner::policy_conflict);
    return {static_cast<std::uint64_t>(ErrorCode::policy_conflict), {}};
  }
  return {0, wire::Map().set("created", created).set("queue", describe(*queue))};
}

Model::Outcome Model::edit(Queue& queue, const wire::Map& arguments) {
  const std::optional<Rules> rules = read_rules(map_of(arguments, "policy"), queue.rules);
  if (!rules) {
    hit(Corner::bad_policy);
    return {static_cast<std::uint64_t>(ErrorCode::bad_policy), {}};
  }
  const bool lowered = rules->dead_letter_max < queue.rules.dead_letter_max;
  queue.rules = *rules;
  Queue* const dead = queue.is_dead_letters() ? nullptr : find(queue.name + ".dlq");
  if (lowered && dead != nullptr) {
    hit(Corner::dead_bound_lowered);
    drop_dead_letters(*dead, rules->dead_letter_max);
  }
  return {0, describe(queue)};
}

Model::Outcome Model::purge(Queue& queue) {
  const std::size_t before = queue.messages.size();
  std::erase_if(queue.messages, [](const Message& message) { return message.state != State::leased; });
  const std::uint64_t purged = before - queue.messages.size();
  queue.counters["purged"] += purged;
  if (purged > 0 && !queue.messages.empty()) hit(Corner::purged_with_leased);
  return {0, wire::Map().set("purged", purged).set("leased", std::uint64_t{queue.messages.size()})};
}

Model::Outcome Model::peek(const Queue& queue, const wire::Map& arguments) const {
  const std::uint64_t limit = number_of(arguments, "limit", 10);
  const std::uint64_t after = number_of(arguments, "after", 0);
  wire::Array found;
  bool more = false;
  for (const Message& message : queue.messages) {
    if (message.position <= after) continue;
    more = found.size() == limit;
    if (more) break;
    found.emplace_back(describe(queue, message));
  }
  return {0, wire::Map().set("messages", std::move(found)).set("more", more)};
}

Model::Outcome Model::replay(Queue& dead, const wire::Map& arguments) {
  const std::string to = text_of(arguments, "to");
  const std::string reason = text_of(arguments, "reason");
  const std::uint64_t limit = number_of(arguments, "limit", 0);
  if (!dead.is_dead_letters()) return {static_cast<std::uint64_t>(ErrorCode::not_a_dead_letter_queue), {}};
  if (!to.empty() && !is_queue_name(to)) return {static_cast<std::uint64_t>(ErrorCode::bad_queue_name), {}};
  if (to == dead.name) return {static_cast<std::uint64_t>(ErrorCode::bad_field), {}};
  if (const wire::Value* const dry = arguments.find("dry_run"); dry != nullptr && *dry->get_if<bool>()) {
    hit(Corner::replay_dry_run);  // what would be counted if it were done
    Corners not_counted;
    Model other = *this;
    other.corners_ = &not_counted;
    return other.replay(other.queues_.at(dead.name), wire::Map(arguments).set("dry_run", false));
  }
  std::vector<std::uint64_t> ids;
  if (const wire::Value* const given = arguments.find("ids"))
    for (const wire::Value& id : *given->get_if<wire::Array>()) ids.push_back(*id.get_if<std::uint64_t>());
  std::uint64_t replayed = 0;
  std::uint64_t refused = 0;
  const std::vector<Message> there = dead.messages;
  for (const Message& message : there) {
    if (limit != 0 && replayed == limit) {
      hit(Corner::replay_limited);
      break;
    }
    if (message.state == State::leased) continue;
    if (!ids.empty() && std::find(ids.begin(), ids.end(), message.id) == ids.end()) continue;
    if (!reason.empty() && (!message.death || message.death->reason != reason)) continue;
    if (!reason.empty()) hit(Corner::replay_by_reason);
    const std::string target = !to.empty() ? to : message.death ? message.death->origin : "";
    const bool was_there = find(target) != nullptr;
    ErrorCode code{};
    Queue* const queue = find_or_create(target, code);
    if (queue == nullptr || !fits(*queue, message.size())) {
      hit(Corner::replay_refused);
      ++refused;
      continue;
    }
    if (!was_there) hit(Corner::replay_made_queue);
    hit(Corner::replayed);
    ++replayed;
    ++dead.counters["replayed_out"];
    move(dead, message.position, *queue);
  }
  return {0, wire::Map().set("replayed", replayed).set("refused", refused)};
}

Model::Outcome Model::bind(const std::string& verb, const wire::Map& arguments) {
  if (verb == "bind.list") return {0, wire::Map().set("bindings", describe_bindings()).set("more", false)};
  const std::string queue_name = text_of(arguments, "queue");
  const std::string pattern = text_of(arguments, "pattern");
  if (verb == "bind.remove") {
    Queue* const queue = find(queue_name);
    if (queue == nullptr)
      return {
          static_cast<std::uint64_t>(is_queue_name(queue_name) ? ErrorCode::unknown_queue : ErrorCode::bad_queue_name),
          {}};
    return {0, wire::Map().set("removed", std::erase(queue->patterns, pattern) > 0)};
  }
  if (!is_pattern(pattern)) return {static_cast<std::uint64_t>(ErrorCode::bad_topic), {}};
  const Queue* const known = find(queue_name);
  const bool there =
      known != nullptr && std::find(known->patterns.begin(), known->patterns.end(), pattern) != known->patterns.end();
  if (!there && !has_room_for_binding()) return {static_cast<std::uint64_t>(ErrorCode::binding_limit), {}};
  ErrorCode code{};
  Queue* const queue = find_or_create(queue_name, code);
  if (queue == nullptr) return {static_cast<std::uint64_t>(code), {}};
  if (there) hit(Corner::binding_added_again);
  if (!there) queue->patterns.push_back(pattern);
  std::sort(queue->patterns.begin(), queue->patterns.end());
  return {0, wire::Map().set("added", !there)};
}

wire::Map Model::describe(const Queue& queue) const {
  const auto dead = queues_.find(queue.name + ".dlq");
  std::uint64_t on_it = 0;
  for (const Consumer& each : consumers_) on_it += each.queue == queue.name && !each.cancelled ? 1U : 0U;
  wire::Map counters;
  for (const char* counter : kCounters) {
    const auto found = queue.counters.find(counter);
    counters.set(counter, found == queue.counters.end() ? std::uint64_t{0} : found->second);
  }
  const bool has_dead = !queue.is_dead_letters() && dead != queues_.end();
  return wire::Map()
      .set("name", queue.name)
      .set("ready", queue.count(State::ready))
      .set("delayed", queue.count(State::delayed))
      .set("leased", queue.count(State::leased))
      .set("dead", has_dead ? std::uint64_t{dead->second.messages.size()} : std::uint64_t{0})
      .set("consumers", on_it)
      .set("oldest_age_ms", queue.messages.empty()
                                ? std::uint64_t{0}
                                : now_.wall_ms - std::min(now_.wall_ms, queue.messages.front().published_ms))
      .set("bytes", queue.bytes())
      .set("paused", queue.paused)
      .set("policy", to_map(queue.rules))
      .set("counters", std::move(counters));
}

wire::Map Model::describe(const Queue& queue, const Message& message) const {
  const Tries& tries = message.tries;
  wire::Map map;
  map.set("id", message.id)
      .set("position", message.position)
      .set("state", name(message.state))
      .set("payload", wire::Bin{message.payload})
      .set("payload_bytes", std::uint64_t{message.payload.size()})
      .set("headers", wire::Bin{message.headers})
      .set("priority", message.priority)
      .set("published_ms", message.published_ms)
      .set("deliveries", tries.deliveries)
      .set("nacks", tries.nacks)
      .set("expiries", tries.expiries)
      .set("disconnects", tries.disconnects)
      .set("releases", tries.releases)
      .set("restarts", std::uint64_t{0})  // of the broker: the model has none
      .set("error", message.error);
  if (message.state == State::delayed && message.due_ms > now_.steady_ms)
    map.set("due_ms", now_.wall_ms + (message.due_ms - now_.steady_ms));
  if (message.expires_ms)
    map.set("expires_ms", now_.wall_ms + (is_expired(message) ? 0 : *message.expires_ms - now_.steady_ms));
  return queue.is_dead_letters() ? map.set("dead", dead_map(message)) : map;
}

wire::Map dead_map(const Message& message) {
  if (!message.death) return {};
  const Death& death = *message.death;
  return wire::Map()
      .set("origin", death.origin)
      .set("reason", death.reason)
      .set("error", message.error)
      .set("first_published_ms", message.published_ms)
      .set("dead_at_ms", death.at_ms)
      .set("deliveries", death.tries.deliveries)
      .set("nacks", death.tries.nacks)
      .set("expiries", death.tries.expiries)
      .set("disconnects", death.tries.disconnects)
      .set("releases", death.tries.releases)
      .set("restarts", std::uint64_t{0});
}

wire::Array Model::describe_consumers() const {
  wire::Array found;
  for (const auto& [queue_name, queue] : queues_)
    for (const Consumer& each : consumers_)
      if (each.queue == queue_name && !each.cancelled)
        found.emplace_back(
            wire::Map()
                .set("queue", queue_name)
                .set("session", each.session)
                .set("consumer", each.number)
                .set("held", held(each.key))
                .set("credit_messages", each.credit_messages)
                .set("credit_bytes", static_cast<std::uint64_t>(std::max<std::int64_t>(0, each.credit_bytes))));
  return found;
}

wire::Array Model::describe_bindings() const {
  wire::Array found;
  for (const auto& [queue_name, queue] : queues_)
    for (const std::string& pattern : queue.patterns)
      found.emplace_back(wire::Map().set("queue", queue_name).set("pattern", pattern));
  return found;
}

std::map<std::string, std::uint64_t> Model::totals() const {
  std::map<std::string, std::uint64_t> sums = retired_;
  for (const auto& [queue_name, queue] : queues_)
    for (const auto& [counter, value] : queue.counters) sums[counter] += value;
  return sums;
}

}  // namespace sluice::model
