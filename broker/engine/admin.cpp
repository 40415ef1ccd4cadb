#include "engine/admin.h"

#include <algorithm>

#include "engine/queue_name.h"
#include "engine/topic_pattern.h"

namespace sluice::engine {
namespace {

constexpr std::uint64_t kListMax = 10'000;
constexpr std::uint64_t kPeekMax = 1'000;
constexpr std::uint64_t kPeekPayloadBytesMax = 64 * 1024;
// A reply ends early rather than outgrow a frame: the smallest limit of frames is 1 MiB.
constexpr std::uint64_t kReplyBytesMax = 512 * 1024;
constexpr std::uint64_t kQueueBytesGuess = 1'024;
constexpr std::uint64_t kMessageBytesGuess = 1'024;
constexpr std::uint64_t kBindingBytesGuess = 600;

std::string_view name(MessageState state) {
  switch (state) {
    case MessageState::ready:
      return "ready";
    case MessageState::delayed:
      return "delayed";
    case MessageState::leased:
      return "leased";
  }
  return "";
}

wire::Map describe(const Message& message, const Now& now) {
  static const Extras kNone;
  const Extras& past = message.extras != nullptr ? *message.extras : kNone;
  wire::Map map;
  map.set("id", raw(message.id))
      .set("position", message.position)
      .set("state", name(message.state))
      .set("payload", wire::Bin{std::string(message.payload().substr(0, kPeekPayloadBytesMax))})
      .set("payload_bytes", std::uint64_t{message.payload_bytes})
      .set("headers", wire::Bin{std::string(message.headers())})
      .set("priority", std::uint64_t{message.priority})
      .set("published_ms", message.published_ms)
      .set("deliveries", message.deliveries)
      .set("nacks", past.nacks)
      .set("expiries", past.expiries)
      .set("disconnects", past.disconnects)
      .set("releases", past.releases)
      .set("restarts", past.restarts)
      .set("error", past.error);
  if (message.state == MessageState::delayed && message.when_ms > now.steady_ms)
    map.set("due_ms", now.wall_ms + (message.when_ms - now.steady_ms));
  if (past.expiry.set)
    map.set("expires_ms",
            now.wall_ms + (past.expiry.when_ms > now.steady_ms ? past.expiry.when_ms - now.steady_ms : 0));
  if (message.queue->dead_letters) map.set("dead", dead_map(message));
  return map;
}

}  // namespace

Result<wire::Map> Admin::handle(const wire::Request& request, const Now& now) {
  struct VerbRow {
    std::string_view name;
    Result<wire::Map> (Admin::*run)(Arguments&, const Now&);
  };
  static constexpr VerbRow kVerbs[] = {
      {"queue.declare", &Admin::declare},   {"queue.list", &Admin::list},     {"queue.info", &Admin::info},
      {"queue.purge", &Admin::purge},       {"queue.delete", &Admin::remove}, {"queue.peek", &Admin::peek},
      {"queue.edit", &Admin::edit},         {"queue.pause", &Admin::pause},   {"queue.resume", &Admin::resume},
      {"bind.add", &Admin::bind},           {"bind.remove", &Admin::unbind},  {"bind.list", &Admin::bindings},
      {"consumer.list", &Admin::consumers}, {"dlq.replay", &Admin::replay},
  };
  lacked_bodies_ = false;
  for (const VerbRow& verb : kVerbs) {
    if (verb.name != request.verb) continue;
    Arguments arguments(request.arguments);
    return (this->*verb.run)(arguments, now);
  }
  return fail(ErrorCode::unknown_verb, "no verb " + request.verb.substr(0, 64));
}

Result<wire::Map> Admin::declare(Arguments& arguments, const Now& now) {
  const std::string name = arguments.text("name");
  const wire::Map given = arguments.map("policy");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  Queue* queue = queues_.find(name);
  const Result<Policy> policy = read_policy(given, queue != nullptr ? queue->policy : queues_.defaults());
  if (!policy) return tl::unexpected<Error>(policy.error());
  if (auto error = not_durable(*policy)) return tl::unexpected<Error>(*std::move(error));
  const bool created = queue == nullptr;
  if (created) {
    const Result<Queue*> made = queues_.create(name, *policy);
    if (!made) return tl::unexpected<Error>(made.error());
    queue = *made;
  } else if (queue->policy != *policy) {
    return fail(ErrorCode::policy_conflict, "queue " + name + " exists with another policy");
  }
  wire::Map result;
  result.set("created", created).set("queue", describe(*queue, now));
  return result;
}

// What is asked for and cannot be given.
std::optional<Error> Admin::not_durable(const Policy& policy) const {
  if (!policy.durable || records_.keeps()) return std::nullopt;
  return Error{ErrorCode::bad_policy, "durable: this broker keeps nothing, it was started without a data directory", 0};
}

Result<wire::Map> Admin::list(Arguments& arguments, const Now& now) {
  const std::string prefix = arguments.text("prefix", "");
  const std::string after = arguments.text("after", "");
  const std::uint64_t limit = arguments.whole("limit", 1'000, 1, kListMax);
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const auto& queues = queues_.by_name();
  wire::Array found;
  bool more = false;
  for (auto at = after >= prefix && !after.empty() ? queues.upper_bound(after) : queues.lower_bound(prefix);
       at != queues.end() && at->first.starts_with(prefix); ++at) {
    more = found.size() == limit || found.size() * kQueueBytesGuess > kReplyBytesMax;
    if (more) break;
    found.emplace_back(describe(*at->second, now));
  }
  wire::Map result;
  result.set("queues", std::move(found)).set("more", more);
  return result;
}

Result<wire::Map> Admin::info(Arguments& arguments, const Now& now) {
  const std::string name = arguments.text("name");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  return queues_.get(name).map([&](Queue* queue) { return describe(*queue, now); });
}

// Lives at once. What is beyond a lowered limit stays; a running attempt is judged by the new limit when it ends.
Result<wire::Map> Admin::edit(Arguments& arguments, const Now& now) {
  const std::string name = arguments.text("name");
  const wire::Map given = arguments.map("policy");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const Result<Queue*> queue = queues_.get(name);
  if (!queue) return tl::unexpected<Error>(queue.error());
  const Result<Policy> policy = read_policy(given, (*queue)->policy);
  if (!policy) return tl::unexpected<Error>(policy.error());
  if (auto error = not_durable(*policy)) return tl::unexpected<Error>(*std::move(error));
  const bool lowered = policy->dead_letter_max < (*queue)->policy.dead_letter_max;
  (*queue)->policy = *policy;
  if (lowered && !(*queue)->dead_letters) dead_letters_.apply_bound(**queue);
  records_.queue_changed(**queue);
  return describe(**queue, now);
}

Result<wire::Map> Admin::pause(Arguments& arguments, const Now& now) { return set_paused(arguments, now, true); }
Result<wire::Map> Admin::resume(Arguments& arguments, const Now& now) { return set_paused(arguments, now, false); }

Result<wire::Map> Admin::set_paused(Arguments& arguments, const Now& now, bool paused) {
  const std::string name = arguments.text("name");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const Result<Queue*> queue = queues_.get(name);
  if (!queue) return tl::unexpected<Error>(queue.error());
  (*queue)->paused = paused;
  dispatcher_.mark(**queue);
  records_.queue_changed(**queue);
  return describe(**queue, now);
}

Result<wire::Map> Admin::purge(Arguments& arguments, const Now&) {
  const std::string name = arguments.text("name");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const Result<Queue*> queue = queues_.get(name);
  if (!queue) return tl::unexpected<Error>(queue.error());
  std::uint64_t purged = 0;
  for (Message* message = (*queue)->first; message != nullptr;) {
    Message* const next = message->queue_next;
    if (message->state != MessageState::leased) {
      messages_.end(*message, Ended::purged);
      ++purged;
    }
    message = next;
  }
  wire::Map result;
  result.set("purged", purged).set("leased", (*queue)->leased_count);
  return result;
}

Result<wire::Map> Admin::remove(Arguments& arguments, const Now&) {
  const std::string name = arguments.text("name");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const Result<Queue*> found = queues_.get(name);
  if (!found) return tl::unexpected<Error>(found.error());
  wire::Map result;
  result.set("deleted_messages", removal_.remove(**found));
  return result;
}

Result<wire::Map> Admin::bind(Arguments& arguments, const Now&) {
  const std::string name = arguments.text("queue");
  const std::string pattern = arguments.text("pattern");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  if (auto error = pattern_error(pattern)) return fail(ErrorCode::bad_topic, *std::move(error));
  const Queue* const known = queues_.find(name);
  const bool there = known != nullptr && topics_.contains(*known, pattern);
  if (const Result<void> room = topics_.room(); !there && !room) return tl::unexpected<Error>(room.error());
  const Result<Queue*> queue = queues_.get_or_create(name);
  if (!queue) return tl::unexpected<Error>(queue.error());
  wire::Map result;
  const bool added = topics_.add(**queue, pattern);
  if (added) records_.bound(**queue, pattern);
  result.set("added", added);
  return result;
}

Result<wire::Map> Admin::unbind(Arguments& arguments, const Now&) {
  const std::string name = arguments.text("queue");
  const std::string pattern = arguments.text("pattern");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const Result<Queue*> queue = queues_.get(name);
  if (!queue) return tl::unexpected<Error>(queue.error());
  wire::Map result;
  const bool removed = topics_.remove(**queue, pattern);
  if (removed) records_.unbound(**queue, pattern);
  result.set("removed", removed);
  return result;
}

Result<wire::Map> Admin::bindings(Arguments& arguments, const Now&) {
  const std::string queue = arguments.text("queue", "");
  const std::string prefix = arguments.text("prefix", "");
  const std::string after_queue = arguments.text("after_queue", "");
  const std::string after_pattern = arguments.text("after_pattern", "");
  const std::uint64_t limit = arguments.whole("limit", 1'000, 1, kListMax);
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  if (!queue.empty()) {
    if (const Result<Queue*> known = queues_.get(queue); !known) return tl::unexpected<Error>(known.error());
  }
  const BindingPage page =
      topics_.page({queue, prefix, after_queue, after_pattern}, std::min(limit, kReplyBytesMax / kBindingBytesGuess));
  wire::Array found;
  for (const Binding* binding : page.bindings)
    found.emplace_back(wire::Map().set("queue", binding->queue->name).set("pattern", binding->pattern));
  wire::Map result;
  result.set("bindings", std::move(found)).set("more", page.more);
  return result;
}

// Of one queue, or of all in order of queue; pages by queue, none of which is divided.
Result<wire::Map> Admin::consumers(Arguments& arguments, const Now&) {
  const std::string name = arguments.text("queue", "");
  const std::string after = arguments.text("after", "");
  const std::uint64_t limit = arguments.whole("limit", 1'000, 1, kListMax);
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  if (!name.empty()) {
    if (const Result<Queue*> queue = queues_.get(name); !queue) return tl::unexpected<Error>(queue.error());
  }
  const auto& queues = queues_.by_name();
  wire::Array found;
  bool more = false;
  for (auto at = name.empty() ? queues.upper_bound(after) : queues.find(name); at != queues.end(); ++at) {
    more = found.size() >= limit || found.size() * kQueueBytesGuess > kReplyBytesMax;
    if (more) break;
    for (const Consumer* consumer : at->second->consumers)
      found.emplace_back(wire::Map()
                             .set("queue", at->first)
                             .set("session", raw(consumer->session))
                             .set("consumer", consumer->number)
                             .set("held", consumer->held)
                             .set("credit_messages", consumer->credit_messages)
                             .set("credit_bytes",
                                  consumer->credit_bytes > 0 ? static_cast<std::uint64_t>(consumer->credit_bytes) : 0));
    if (!name.empty()) break;
  }
  wire::Map result;
  result.set("consumers", std::move(found)).set("more", more);
  return result;
}

Result<wire::Map> Admin::peek(Arguments& arguments, const Now& now) {
  const std::string name = arguments.text("name");
  const std::uint64_t limit = arguments.whole("limit", 10, 1, kPeekMax);
  const std::uint64_t after = arguments.whole("after", 0, 0, ~std::uint64_t{0});
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const Result<Queue*> queue = queues_.get(name);
  if (!queue) return tl::unexpected<Error>(queue.error());
  wire::Array found;
  std::uint64_t seen = 0;
  std::uint64_t bytes = 0;
  bool more = false;
  for (Message* message = (*queue)->first; message != nullptr; message = message->queue_next) {
    if (message->position <= after) continue;
    more = seen == limit || bytes > kReplyBytesMax;
    if (more) break;
    ++seen;
    bytes += kMessageBytesGuess + std::min(message->size(), kPeekPayloadBytesMax);
    if (!message->has_body()) {
      bodies_->fetch(*message);
      lacked_bodies_ = true;
      continue;
    }
    found.emplace_back(engine::describe(*message, now));
  }
  wire::Map result;
  result.set("messages", std::move(found)).set("more", more);
  return result;
}

Result<wire::Map> Admin::replay(Arguments& arguments, const Now&) {
  const std::string name = arguments.text("name");
  ReplayFilter filter;
  filter.to = arguments.text("to", "");
  filter.ids = arguments.numbers("ids");
  filter.reason = arguments.text("reason", "");
  filter.limit = arguments.whole("limit", 0, 0, ~std::uint64_t{0});
  filter.dry_run = arguments.flag("dry_run");
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const Result<Queue*> queue = queues_.get(name);
  if (!queue) return tl::unexpected<Error>(queue.error());
  return dead_letters_.replay(**queue, filter).map([](const ReplayResult& replayed) {
    wire::Map result;
    result.set("replayed", replayed.replayed).set("refused", replayed.refused);
    return result;
  });
}

wire::Map Admin::describe(const Queue& queue, const Now& now) {
  const Queue* const dead = queue.dead_letters ? nullptr : queues_.find(dead_letter_name(queue.name));
  const std::uint64_t oldest_ms = queue.first == nullptr ? now.wall_ms : queue.first->published_ms;
  wire::Map map;
  map.set("name", queue.name)
      .set("ready", queue.ready_count)
      .set("delayed", queue.delayed_count)
      .set("leased", queue.leased_count)
      .set("dead", dead == nullptr ? std::uint64_t{0} : dead->count())
      .set("consumers", static_cast<std::uint64_t>(queue.consumers.size()))
      .set("oldest_age_ms", now.wall_ms > oldest_ms ? now.wall_ms - oldest_ms : std::uint64_t{0})
      .set("bytes", queue.bytes)
      .set("paused", queue.paused)
      .set("policy", to_map(queue.policy))
      .set("counters", queue.counters.to_map());
  return map;
}

}  // namespace sluice::engine
