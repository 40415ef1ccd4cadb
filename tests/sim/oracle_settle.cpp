// Consumers, settlements and requests, as the oracle judges them: S2, S3, S7, S8, S9, S26.
#include "describe.h"
#include "oracle.h"

namespace sluice::sim {
namespace {

// A turn takes a moment, its time is a whole millisecond, and what a sync took is made good from 50 ms on.
constexpr std::uint64_t kMarginUs = 54 * kMs;
constexpr std::uint64_t kLeaseMsLeast = 100;  // of any policy

std::uint64_t number_in(const wire::Map& map, std::string_view key) {
  const wire::Value* const value = map.find(key);
  const auto* number = value == nullptr ? nullptr : value->get_if<std::uint64_t>();
  return number == nullptr ? 0 : *number;
}

std::string text_in(const wire::Map& map, std::string_view key) {
  const wire::Value* const value = map.find(key);
  const auto* text = value == nullptr ? nullptr : value->get_if<std::string>();
  return text == nullptr ? std::string() : *text;
}

// What may differ from the defaults, as loose as it ever was.
void note_policy(Queue& queue, const wire::Map& policy) {
  for (const auto& [key, value] : policy.entries()) {
    const auto* number = value.get_if<std::uint64_t>();
    const auto* text = value.get_if<std::string>();
    if (key == "max_attempts" && number != nullptr) queue.attempts_max = std::max(queue.attempts_max, *number);
    if (key == "ttl_ms" && number != nullptr && *number != 0) queue.may_expire = true;
    if (key == "overflow" && text != nullptr && text->ends_with("_oldest")) queue.may_drop = true;
    if (key == "overflow" && text != nullptr && *text == "block") queue.may_wait = true;
    if (key == "dedup_window_ms" && number != nullptr) queue.dedup_window_us = *number * kMs;
  }
}

}  // namespace

void Oracle::take_consume(Session& session, const wire::Consume& frame) {
  Pending pending{turn_, event_, Pending::Kind::consume, {}, {}, frame.consumer, {}};
  session.pending.insert_or_assign(frame.request, std::move(pending));
  if (session.consumers.contains(frame.consumer)) return;  // refused
  Consumer& consumer = session.consumers[frame.consumer];
  if (frame.topic.empty()) {
    consumer.queue = &queue(std::string(frame.queue));
  } else {
    consumer.pattern = frame.topic;
    world_.hit(Mark::unnamed_subscription);
  }
  consumer.granted_messages = frame.credit_messages;
  consumer.granted_bytes = frame.credit_bytes;
}

void Oracle::take_settle(Session& session, const wire::Settle& frame) {
  Pending pending{turn_, event_, Pending::Kind::settle, {}, {}, 0, {}};
  for (const wire::Settlement& each : frame.settlements)
    take_settlement(session, each, frame.request.has_value(), pending);
  for (const wire::Grant& grant : frame.grants) {
    const auto found = session.consumers.find(grant.consumer);
    if (found == session.consumers.end()) continue;
    found->second.granted_messages += grant.messages;
    found->second.granted_bytes += grant.bytes;
  }
  if (frame.request) session.pending.insert_or_assign(*frame.request, std::move(pending));
}

void Oracle::take_settlement(Session& session, const wire::Settlement& settlement, bool answered, Pending& pending) {
  const std::uint64_t last = std::min(settlement.last_lease, settlement.first_lease + 70'000);
  for (std::uint64_t number = settlement.first_lease; number <= last; ++number) {
    ++world_.operations;
    Pending::Part part;
    part.lease = number;
    const auto found = leases_.find(number);
    if (found == leases_.end() || found->second.session != &session) {
      part.must_be_stale = found != leases_.end() || number <= lease_floor_ || number > last_lease_ + 1'000'000;
      pending.parts.push_back(part);
      continue;
    }
    Lease& lease = found->second;
    Copy& copy = *lease.copy;
    part.must_be_stale = lease.state == LeaseState::settled || lease.state == LeaseState::lost;
    part.must_be_live = lease.state == LeaseState::live && lease.deadline_us > world_.now_us() + kMarginUs &&
                        !lease.emptied && copy.queue->emptied_at < copy.delivered_at;
    // Last words of a closed connection; or one that is not answered when all is well.
    const bool told = lease.state != LeaseState::gone && answered;
    if (settlement.verb == wire::Verb::ack && !told && !part.must_be_stale) maybe_acked(copy);
    if (settlement.verb == wire::Verb::extend) {
      if (lease.state == LeaseState::live) {
        // It may be a shortening. Until its answer leaves, and if nobody asked for one, both may be; the last one counts.
        part.extended_us = world_.now_us() + settlement.lease_ms.value_or(kLeaseMsLeast) * kMs;
        lease.extended_us = part.extended_us;
        lease.deadline_us = std::min(lease.deadline_us, part.extended_us);
        part.changes = true;
      }
    } else if (lease.state == LeaseState::live) {
      lease.state = LeaseState::asked;
      lease.nack_until_us = 0;
      if (settlement.verb == wire::Verb::ack) lease.asked = Asked::ack;
      if (settlement.verb == wire::Verb::nack) {
        lease.asked = Asked::nack;
        if (settlement.delay_ms) lease.nack_until_us = world_.now_us() + *settlement.delay_ms * kMs;
      }
      if (settlement.verb == wire::Verb::release) lease.asked = Asked::release;
      if (settlement.verb == wire::Verb::reject) lease.asked = Asked::reject;
      part.changes = true;
    }
    pending.parts.push_back(part);
  }
}

void Oracle::gave_settled(Session& session, const wire::Settled& frame) {
  const auto exception = [&](std::uint64_t lease) -> std::uint64_t {
    for (const wire::SettleException& each : frame.exceptions)
      if (lease >= each.first_lease && lease <= each.last_lease) return each.code;
    return 0;
  };
  if (!frame.exceptions.empty()) world_.hit(Mark::stale_settlement, frame.exceptions.size());
  if (!frame.request) {
    // No request, so it is not known which frame this answers. Stale leases may have ended in any way.
    for (const wire::SettleException& each : frame.exceptions) {
      for (std::uint64_t number = each.first_lease; number <= each.last_lease; ++number) {
        const auto found = leases_.find(number);
        if (found != leases_.end() && found->second.session == &session && found->second.state == LeaseState::asked)
          found->second.state = LeaseState::lost;
      }
    }
    return;
  }
  const auto found = session.pending.find(*frame.request);
  if (found == session.pending.end() || found->second.kind != Pending::Kind::settle) {
    if (session.hostile) return;
    world_.fail("S26", "SETTLED for request " + std::to_string(*frame.request) + ", which waits for no such answer");
  }
  const Pending pending = std::move(found->second);
  session.pending.erase(found);
  check_durable("SETTLED of request " + std::to_string(*frame.request), pending.turn);
  for (const Pending::Part& part : pending.parts) {
    const std::uint64_t code = exception(part.lease);
    const std::string name = "lease " + std::to_string(part.lease);
    if (part.must_be_stale && code != static_cast<std::uint64_t>(ErrorCode::stale))
      world_.fail("S7", name + " was over or another's, and its settlement was not answered as stale");
    if (part.must_be_live && code == static_cast<std::uint64_t>(ErrorCode::stale))
      world_.fail("S8", name + " is stale before its deadline");
    if (!part.changes) continue;
    Lease& lease = leases_.at(part.lease);
    if (code == 0) {
      if (part.extended_us != 0) {
        extended(lease, part);
      } else {
        settled(lease, lease.copy->lease == part.lease);
      }
    } else if (code == static_cast<std::uint64_t>(ErrorCode::stale) && lease.state == LeaseState::asked) {
      lease.state = LeaseState::lost;
    }
  }
}

void Oracle::extended(Lease& lease, const Pending::Part& part) {
  if (lease.state == LeaseState::live && lease.extended_us == part.extended_us) lease.deadline_us = part.extended_us;
  world_.hit(Mark::lease_extended);
}

// A settlement was carried out, and the holder knows it.
// `newest`: the message was not handed out again before this answer left.
void Oracle::settled(Lease& lease, bool newest) {
  if (lease.state != LeaseState::asked) return;
  lease.state = LeaseState::settled;
  Copy& copy = *lease.copy;
  switch (lease.asked) {
    case Asked::nothing:
      break;
    case Asked::ack:
      copy.acked = true;
      copy.acked_at = event_;
      ++copy.queue->acks;
      break;
    case Asked::nack:
      ++copy.failures;
      if (newest) copy.not_before_us = lease.nack_until_us;
      if (newest) copy.not_before_life = lives_;
      world_.hit(Mark::nacked);
      break;
    case Asked::release:
      world_.hit(Mark::released);
      if (newest) ready(copy);
      break;
    case Asked::reject:
      world_.hit(Mark::rejected);
      break;
  }
}

void Oracle::gave_lost(Session& session, const wire::LeaseLost& frame) {
  const bool expired = frame.code == static_cast<std::uint64_t>(ErrorCode::lease_expired);
  for (const wire::LeaseRange& range : frame.ranges) {
    for (std::uint64_t number = range.first; number <= range.last; ++number) {
      const auto found = leases_.find(number);
      if (found == leases_.end() || found->second.session != &session)
        world_.fail("S26", "LEASE_LOST for lease " + std::to_string(number) + ", which session " +
                               std::to_string(session.number) + " does not hold");
      Lease& lease = found->second;
      if (lease.state == LeaseState::settled || (lease.state == LeaseState::lost && lease.deadline_us != 0))
        world_.fail("S7", "LEASE_LOST for lease " + std::to_string(number) + ", which has ended");
      if (expired && lease.deadline_us > world_.now_us() + kMarginUs)
        world_.fail("S8", "lease " + std::to_string(number) + " ran out " +
                              std::to_string((lease.deadline_us - world_.now_us()) / kMs) + " ms before its deadline");
      if (expired && lease.state == LeaseState::live) ++lease.copy->failures;
      if (lease.state == LeaseState::live || lease.state == LeaseState::asked) lease.state = LeaseState::lost;
      if (expired) world_.hit(Mark::lease_expired);
    }
  }
}

void Oracle::take_request(Session& session, const wire::Request& frame) {
  ++world_.operations;
  const wire::Map& arguments = frame.arguments;
  session.pending.insert_or_assign(frame.request,
                                   Pending{turn_, event_, Pending::Kind::request, frame.verb, arguments, 0, {}});
  const std::string name = text_in(arguments, "name");
  if (frame.verb == "queue.declare" || frame.verb == "queue.edit") {
    if (const wire::Value* policy = arguments.find("policy"); policy != nullptr && policy->get_if<wire::Map>())
      note_policy(queue(name), *policy->get_if<wire::Map>());
  } else if (frame.verb == "queue.purge" || frame.verb == "queue.delete") {
    Queue& emptied = queue(name);
    emptied.emptied_at = event_;
    emptied.emptied_us = world_.now_us();
    forget_order(emptied, false);
    if (frame.verb == "queue.delete") {
      emptied.deleted = true;
      emptied.counters.clear();
      emptied.counted_at = event_;  // what was asked before tells of the one that goes
      std::erase_if(maybe_bound_, [&](const auto& each) { return each.first == name; });
      for (const auto& each : bound_)
        if (each.first == name) maybe_bound_.insert(each);
      std::erase_if(bound_, [&](const auto& each) { return each.first == name; });
    }
  } else if (frame.verb == "dlq.replay") {
    Queue& from = queue(name);
    from.replayed_at = event_;
    if (from.origin != nullptr) {
      from.origin->replayed_at = event_;
      forget_order(*from.origin, false);
    }
  } else if (frame.verb == "bind.add") {
    maybe_bound_.insert({text_in(arguments, "queue"), text_in(arguments, "pattern")});
  } else if (frame.verb == "bind.remove") {
    const std::pair binding(text_in(arguments, "queue"), text_in(arguments, "pattern"));
    if (bound_.erase(binding) != 0) maybe_bound_.insert(binding);
  }
}

void Oracle::gave_reply(Session& session, const wire::Reply& reply) {
  const auto found = session.pending.find(reply.request);
  if (found == session.pending.end() || found->second.kind == Pending::Kind::settle) {
    if (session.hostile) return;  // the answer to a frame that could not be decoded
    world_.fail("S26", "REPLY to request " + std::to_string(reply.request) + ", which waits for no answer");
  }
  const Pending pending = std::move(found->second);
  session.pending.erase(found);
  check_durable("REPLY to request " + std::to_string(reply.request) + " " + pending.verb, pending.turn);
  if (pending.kind == Pending::Kind::consume && reply.error && reply.error->name != "consumer_exists")
    session.consumers.erase(pending.consumer);
  if (pending.kind == Pending::Kind::cancel && reply.result) session.consumers.erase(pending.consumer);
  if (pending.kind == Pending::Kind::request && reply.result) replied(pending, *reply.result);
}

void Oracle::replied(const Pending& pending, const wire::Map& result) {
  const wire::Map& arguments = pending.arguments;
  if (pending.verb == "queue.info") check_queue(result, pending.at);
  if (pending.verb == "queue.list") {
    for (const wire::Value& each : *result.find("queues")->get_if<wire::Array>())
      check_queue(*each.get_if<wire::Map>(), pending.at);
  }
  if (pending.verb == "queue.purge") world_.hit(Mark::purged, number_in(result, "purged"));
  if (pending.verb == "dlq.replay") world_.hit(Mark::replayed, number_in(result, "replayed"));
  const std::pair binding(text_in(arguments, "queue"), text_in(arguments, "pattern"));
  if (pending.verb == "bind.add" && !binding_changes(binding)) {
    maybe_bound_.erase(binding);
    bound_.insert(binding);
  }
  if (pending.verb == "bind.remove" && !binding_changes(binding)) maybe_bound_.erase(binding);
  if (pending.verb == "bind.list" && arguments.empty()) note_bindings(result);
}

// A later request about it is still unanswered.
bool Oracle::binding_changes(const std::pair<std::string, std::string>& binding) const {
  for (const Session& session : sessions_) {
    for (const auto& [request, pending] : session.pending) {
      const bool bind = pending.verb == "bind.add" || pending.verb == "bind.remove";
      if (bind && text_in(pending.arguments, "queue") == binding.first &&
          text_in(pending.arguments, "pattern") == binding.second)
        return true;
      if (pending.verb == "queue.delete" && text_in(pending.arguments, "name") == binding.first) return true;
    }
  }
  return false;
}

// All bindings: what was unsure is sure now, unless somebody asks for a change meanwhile.
void Oracle::note_bindings(const wire::Map& result) {
  for (const Session& session : sessions_)
    for (const auto& [request, pending] : session.pending)
      if (pending.verb == "bind.add" || pending.verb == "bind.remove" || pending.verb == "queue.delete") return;
  const std::set<std::pair<std::string, std::string>> before = std::exchange(bound_, {});
  for (const wire::Value& value : *result.find("bindings")->get_if<wire::Array>()) {
    const wire::Map& listed = *value.get_if<wire::Map>();
    bound_.insert({text_in(listed, "queue"), text_in(listed, "pattern")});
  }
  for (const auto& binding : before)
    if (!bound_.contains(binding))
      world_.fail("S1", "queue " + binding.first + " was bound to " + binding.second + ", and is not any more");
  for (const auto& binding : bound_)
    if (!before.contains(binding) && !maybe_bound_.contains(binding) && !binding.first.starts_with("_sub-"))
      world_.fail("S1", "queue " + binding.first + " is bound to " + binding.second + ", which nobody asked for");
  std::erase_if(bound_, [](const auto& binding) { return binding.first.starts_with("_sub-"); });
  maybe_bound_.clear();
}

// S3: nothing appears and nothing vanishes, and what was told does not become untrue.
void Oracle::check_queue(const wire::Map& map, std::uint64_t asked_at) {
  Queue& told = queue(text_in(map, "name"));
  const wire::Map& counters = *map.find("counters")->get_if<wire::Map>();
  const auto counter = [&](std::string_view key) { return number_in(counters, key); };
  const std::uint64_t there = number_in(map, "ready") + number_in(map, "delayed") + number_in(map, "leased");
  const std::uint64_t ended = counter("acked") + counter("dead_lettered") + counter("dropped") + counter("expired") +
                              counter("purged") + counter("replayed_out");
  if (counter("enqueued") != there + ended)
    world_.fail("S3", "queue " + told.name + " has enqueued " + std::to_string(counter("enqueued")) + ", but " +
                          std::to_string(there) + " are there and " + std::to_string(ended) + " have ended");
  if (asked_at < told.counted_at) return;  // answers to different peers may change places
  told.counted_at = asked_at;
  // Nothing records what is not durable: where the messages of unnamed subscriptions came to, counters begin anew with the broker.
  if (std::exchange(told.counted_life, lives_) != lives_ && told.name.starts_with("_sub-")) told.counters.clear();
  for (const auto& [key, value] : counters.entries()) {
    if (key == "deduplicated" || key == "refused") continue;  // kept as of the last full record only
    std::uint64_t& before = told.counters[key];
    const std::uint64_t now = *value.get_if<std::uint64_t>();
    if (now < before)
      world_.fail("S3", "queue " + told.name + ": " + key + " fell from " + std::to_string(before) + " to " +
                            std::to_string(now));
    if (key == "expired") world_.hit(Mark::expired, now - before);
    if (key == "dropped") world_.hit(Mark::dropped, now - before);
    if (key == "dead_lettered") world_.hit(Mark::dead_lettered, now - before);
    before = now;
  }
}

void Oracle::compare_credits(const wire::Array& consumers) {
  std::map<std::uint64_t, Session*> by_number;
  for (Session& session : sessions_)
    if (!session.ended && !session.closing) by_number[session.number] = &session;
  for (const wire::Value& value : consumers) {
    const wire::Map& listed = *value.get_if<wire::Map>();
    const auto session = by_number.find(number_in(listed, "session"));
    if (session == by_number.end()) continue;
    const auto found = session->second->consumers.find(number_in(listed, "consumer"));
    if (found == session->second->consumers.end() || !found->second.exact) continue;
    const Consumer& consumer = found->second;
    const std::uint64_t messages = consumer.granted_messages - consumer.used_messages;
    if (number_in(listed, "credit_messages") != messages)
      world_.fail("S9", "consumer " + std::to_string(found->first) + " of session " + std::to_string(session->first) +
                            " has credit for " + std::to_string(messages) + " messages; the broker says " +
                            std::to_string(number_in(listed, "credit_messages")));
    world_.hit(Mark::credit_compared);
  }
}

}  // namespace sluice::sim
