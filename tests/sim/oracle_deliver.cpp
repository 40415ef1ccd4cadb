// A delivery, as the oracle judges it: S4 to S6, S8 to S12, S23, S24.
#include "describe.h"
#include "oracle.h"

namespace sluice::sim {
namespace {

constexpr std::uint64_t kMarginUs = 3 * kMs;
// What a sync took is made good to a holder from 50 ms on.
constexpr std::uint64_t kLeaseMarginUs = 54 * kMs;

std::string name_of(const Copy& copy) {
  return "message #" + std::to_string(copy.sent->serial) + " of queue " + copy.queue->name;
}

}  // namespace

void Oracle::gave_deliver(Link& link, Session& session, const wire::Deliver& frame) {
  const auto found = session.consumers.find(frame.consumer);
  if (found == session.consumers.end())
    world_.fail("S9", "a delivery to consumer " + std::to_string(frame.consumer) + ", which session " +
                          std::to_string(session.number) + " does not have");
  Consumer& consumer = found->second;
  // Nothing waited when the turn began, so this was made in it.
  if (all_safe_ && !link.blocked_once)
    check_durable("a delivery under lease " + std::to_string(frame.first_lease), turn_);
  if (!link.blocked_once && draining_us_ < made_after_us_ && made_after_us_ - draining_us_ > kMarginUs)
    world_.fail("S23", "a delivery while the broker drains");
  std::uint64_t lease = frame.first_lease;
  for (const wire::Delivery& delivery : frame.deliveries) {
    ++world_.operations;
    use_credit(consumer, delivery);
    Copy& copy = check_content(delivery, consumer);
    if (link.blocked_once && is_late(copy, lease)) {  // waited for its peer, and its time has gone by
      leases_[lease] = {&copy, &session, frame.consumer, LeaseState::lost, Asked::nothing, 0, 0, 0, false};
      session.last_lease = lease++;
      continue;
    }
    check_lease(session, copy, lease);
    check_life(delivery, copy);
    check_times(link, copy);
    check_order(link, delivery, copy, consumer);
    not_ready(copy);
    // What waited for a peer that does not read may have waited for any time.
    const std::uint64_t deadline_us = world_.now_us() + (link.blocked_once ? 0 : frame.lease_ms * kMs);
    const bool emptied = copy.queue->emptied_at != 0 && copy.queue->emptied_us >= made_after_us_;
    leases_[lease] = {&copy, &session, frame.consumer, LeaseState::live, Asked::nothing, deadline_us, 0, 0, emptied};
    session.leases.push_back(lease);
    copy.delivered = true;
    copy.not_before_us = 0;
    copy.count = delivery.count;
    copy.attempts = delivery.attempts;
    copy.lease = lease;
    copy.delivered_at = event_;
    ++lease;
  }
}

// It was handed out again, from here or as a dead letter, before this was told.
bool Oracle::is_late(const Copy& copy, std::uint64_t lease) {
  for (const Copy& other : copy.sent->copies) {
    const bool same = &other == &copy || other.queue == copy.queue->dead || other.queue == copy.queue->origin;
    if (same && lease < other.lease) return true;
  }
  return false;
}

// S9: only what was granted.
void Oracle::use_credit(Consumer& consumer, const wire::Delivery& delivery) {
  if (consumer.used_messages >= consumer.granted_messages || consumer.used_bytes >= consumer.granted_bytes)
    world_.fail("S9", "a delivery beyond the credit: " + std::to_string(consumer.used_messages) + " of " +
                          std::to_string(consumer.granted_messages) + " messages and " +
                          std::to_string(consumer.used_bytes) + " of " + std::to_string(consumer.granted_bytes) +
                          " bytes were used");
  consumer.used_messages += 1;
  consumer.used_bytes += delivery.payload.size() + delivery.headers.size();
}

// S5: it is one of those that were published there, byte for byte.
Copy& Oracle::check_content(const wire::Delivery& delivery, Consumer& consumer) {
  Sent* const sent = find(serial_of(delivery.payload));
  if (sent == nullptr)
    world_.fail("S5", "a delivery that nobody published: id " + std::to_string(delivery.id) + " with " +
                          std::to_string(delivery.payload.size()) + " bytes that begin with " +
                          std::to_string(serial_of(delivery.payload)));
  const std::string name = "message #" + std::to_string(sent->serial);
  if (delivery.payload.size() != sent->bytes || !is_payload_of(sent->serial, delivery.payload))
    world_.fail("S5", name + " has another payload than it was published with");
  if (delivery.headers != sent->headers) world_.fail("S5", name + " has other headers than it was published with");
  if (delivery.priority != sent->priority) world_.fail("S5", name + " has another priority than it was published with");
  if (sent->answer == Answer::refused) world_.fail("S5", name + " was refused, and is delivered");
  if (sent->duplicate && !take_over_id(*by_id_.at(sent->id), *sent))
    world_.fail("S13", name + " is delivered, and so was #" + std::to_string(by_id_.at(sent->id)->serial) +
                           " under the same id");
  if (sent->id == 0) {
    sent->id = delivery.id;
    const auto [owner, fresh] = by_id_.try_emplace(delivery.id, sent);
    const bool shares = fresh || (share_id(*owner->second, *sent) && take_over_id(*owner->second, *sent));
    if (!shares) world_.fail("S13", name + " has the id of #" + std::to_string(owner->second->serial));
  }
  if (sent->id != delivery.id)
    world_.fail("S13", name + " has id " + std::to_string(delivery.id) + ", and " + std::to_string(sent->id) +
                           " before: it was enqueued twice");
  if (delivery.priority != wire::kPriorityDefault) world_.hit(Mark::delivered_with_priority);
  if (consumer.queue == nullptr) {  // the first delivery names what cannot be named: a queue that the broker made
    if (!sent->topic || !matches(consumer.pattern, sent->target))
      world_.fail("S5", name + " does not match " + consumer.pattern);
    consumer.queue = &queue("_unnamed-" + std::to_string(++unnamed_));
    consumer.queue->emptied_at = kNever;  // goes with its consumer
  }
  Queue& place = *consumer.queue;
  const Queue& origin = place.origin == nullptr ? place : *place.origin;
  for (Copy& copy : sent->copies)
    if (copy.queue == &place) return copy;
  bool wanted =
      sent->topic ? place.emptied_at == kNever && matches(consumer.pattern, sent->target) : origin.name == sent->target;
  for (const Copy& copy : sent->copies) wanted = wanted || copy.queue == &origin;
  wanted = wanted || (sent->topic && waits_somewhere(*sent) && may_be_bound(origin.name, sent->target));
  wanted = wanted ||
           (sent->topic && place.origin != nullptr && origin.name.starts_with("_sub-"));  // of an unnamed subscription
  if (!wanted) world_.fail("S5", name + " was not published to queue " + place.name);
  return copy_in(*sent, place);
}

// The one that is delivered is the message; the other one's answer left earlier, or was all that left before the broker died.
bool Oracle::take_over_id(Sent& owner, Sent& first) {
  for (const Copy& copy : owner.copies)
    if (copy.delivered) return false;
  std::swap(owner.duplicate, first.duplicate);
  std::swap(owner.counted, first.counted);
  by_id_[first.id] = &first;
  return true;
}

// S6 and S8: one live lease, a new number, and nobody else's message.
void Oracle::check_lease(Session& session, Copy& copy, std::uint64_t lease) {
  if (lease <= lease_floor_)
    world_.fail("S6", "lease " + std::to_string(lease) + " is not above " + std::to_string(lease_floor_) +
                          ", which was told before the broker's restart");
  if (leases_.contains(lease)) world_.fail("S6", "lease " + std::to_string(lease) + " is told twice");
  if (lease <= session.last_lease)
    world_.fail("S6", "lease " + std::to_string(lease) + " follows " + std::to_string(session.last_lease));
  session.last_lease = lease;
  last_lease_ = std::max(last_lease_, lease);
  if (copy.lease == 0) return;
  const Lease& before = leases_.at(copy.lease);
  const bool rejected = before.state == LeaseState::settled && before.asked == Asked::reject;
  if (rejected && copy.queue->origin == nullptr && copy.queue->replayed_at < copy.delivered_at)
    world_.fail("S11", name_of(copy) + " was rejected, and is delivered again from its queue");
  const bool over = before.state == LeaseState::gone || before.state == LeaseState::lost ||
                    before.deadline_us <= world_.now_us() + kLeaseMarginUs || before.emptied ||
                    copy.queue->emptied_at > copy.delivered_at;
  const bool returned = before.state != LeaseState::live && before.asked != Asked::ack;
  if (over || returned) return;
  if (before.state == LeaseState::asked)
    world_.fail("S4", name_of(copy) + " is delivered again though the ack of lease " + std::to_string(copy.lease) +
                          " came in time");
  if (before.state == LeaseState::live)
    world_.fail("S8", name_of(copy) + " is delivered again under lease " + std::to_string(lease) + " while lease " +
                          std::to_string(copy.lease) + " has " +
                          std::to_string((before.deadline_us - world_.now_us()) / kMs) + " ms to go");
}

// S4, S10, S11: where it is in its life.
void Oracle::check_life(const wire::Delivery& delivery, Copy& copy) {
  const std::string name = name_of(copy);
  const bool replayed = copy.queue->replayed_at > copy.delivered_at;
  if (copy.acked) world_.fail("S4", name + " was acked, and is delivered again");
  Queue& place = *copy.queue;
  if (place.origin != nullptr) {
    world_.hit(Mark::dead_letter_delivered);
    for (const Copy& other : copy.sent->copies) {
      if (other.queue == place.origin && other.acked) world_.fail("S11", name + " was acked in " + place.origin->name);
    }
    check_dead(delivery, copy);
  } else {
    for (const Copy& other : copy.sent->copies) {
      const bool moved = other.queue == place.dead && other.delivered && other.delivered_at > copy.delivered_at;
      if (moved && place.replayed_at < other.delivered_at)
        world_.fail("S11", name + " is in its queue and in the dead letters");
      if (other.queue == place.dead && other.acked) world_.fail("S11", name + " was acked as a dead letter");
    }
    if (delivery.attempts >= place.attempts_max)
      world_.fail("S10", name + " is delivered after " + std::to_string(delivery.attempts) + " failed attempts, of " +
                             std::to_string(place.attempts_max));
  }
  if (copy.suspect) world_.hit(Mark::suspect_delivered);
  if (replayed || !copy.delivered) {
    copy.failures = 0;
    return;
  }
  world_.hit(Mark::delivered_again);
  if (delivery.count <= copy.count)
    world_.fail(
        "S10", name + " has delivery count " + std::to_string(delivery.count) + " after " + std::to_string(copy.count));
  if (delivery.attempts < copy.attempts || delivery.attempts < copy.failures)
    world_.fail("S10", name + " has " + std::to_string(delivery.attempts) + " attempts; " +
                           std::to_string(copy.attempts) + " were told and " + std::to_string(copy.failures) +
                           " failures confirmed");
}

void Oracle::check_dead(const wire::Delivery& delivery, Copy& copy) {
  if (delivery.dead.empty()) world_.fail("S11", name_of(copy) + " is a dead letter without a reason");
  const auto dead = wire::decode_map(delivery.dead);
  if (!dead) world_.fail("S11", name_of(copy) + " has a map of death that cannot be decoded");
  const auto number = [&](std::string_view key) {
    const wire::Value* const value = dead->find(key);
    return value == nullptr ? 0 : *value->get_if<std::uint64_t>();
  };
  if (*dead->find("origin")->get_if<std::string>() != copy.queue->origin->name)
    world_.fail("S11", name_of(copy) + " comes from " + *dead->find("origin")->get_if<std::string>());
  for (const Copy& source : copy.sent->copies) {
    if (source.queue != copy.queue->origin || source.queue->replayed_at != 0) continue;
    if (number("deliveries") < source.count)
      world_.fail("S11", name_of(copy) + " died after " + std::to_string(number("deliveries")) + " deliveries, but " +
                             std::to_string(source.count) + " were told");
    if (number("nacks") + number("expiries") + number("disconnects") < source.failures)
      world_.fail("S11", name_of(copy) + " lost failures when it died");
  }
}

// S24: not before its time, and not after.
void Oracle::check_times(const Link& link, Copy& copy) {
  const Sent& sent = *copy.sent;
  const std::uint64_t now_us = world_.now_us();
  if (copy.not_before_us > now_us && copy.not_before_life == lives_ && copy.queue->replayed_at < copy.delivered_at)
    world_.fail("S24", name_of(copy) + " is delivered " + std::to_string((copy.not_before_us - now_us) / kMs) +
                           " ms before the nack's delay is over");
  if (copy.queue->origin != nullptr || copy.queue->replayed_at != 0) return;
  const bool moved_clock = wall_steps_ != 0 && sent.lives != lives_;
  if (sent.delay_ms != 0) {
    world_.hit(Mark::delivered_after_delay);
    if (!moved_clock && now_us < sent.received_us + sent.delay_ms * kMs)
      world_.fail("S24",
                  name_of(copy) + " is delivered before its delay of " + std::to_string(sent.delay_ms) + " ms is over");
  }
  if (sent.ttl_ms == 0 || moved_clock || waits_somewhere(sent) || link.blocked_once) return;
  if (made_after_us_ > sent.last_received_us + sent.ttl_ms * kMs + kMarginUs)
    world_.fail("S24",
                name_of(copy) + " is delivered after its time to live of " + std::to_string(sent.ttl_ms) + " ms");
}

// S12: in order of publishing within a priority, and what came back in its old place.
void Oracle::check_order(Link& link, const wire::Delivery& delivery, Copy& copy, Consumer& consumer) {
  Queue& place = *copy.queue;
  const Sent& sent = *copy.sent;
  const bool plain = place.origin == nullptr && sent.delay_ms == 0 && !copy.suspect;
  if (!plain || place.replayed_at != 0) return;
  if (delivery.count == 1) {
    std::uint64_t& last = consumer.last_first[sent.priority];
    if (sent.id < last) world_.fail("S12", "the first delivery of " + name_of(copy) + " is out of order");
    last = sent.id;
  }
  if (link.blocked_once) return held_up(link);
  const std::pair<std::uint64_t, std::uint64_t> position(9U - sent.priority, sent.id);
  if (place.furthest_turn != turn_) place.furthest = {};
  place.furthest_turn = turn_;
  place.furthest = std::max(place.furthest, position);
  handed_out_.insert(&place);
}

// What was told in one turn may have left in any order, so it is judged when all of it is there.
void Oracle::check_turn_order() {
  for (const Queue* place : handed_out_) {
    if (place->ready.empty()) continue;
    world_.hit(Mark::order_checked);
    const auto& [position, entry] = *place->ready.begin();
    if (position < place->furthest && entry.second < turn_)
      world_.fail("S12", "message id " + std::to_string(place->furthest.second) + " of queue " + place->name +
                             " is delivered before #" + std::to_string(entry.first->sent->serial) +
                             ", whose place is before it");
  }
  handed_out_.clear();
}

// What was handed out to it may not be known: the order of its queues cannot be judged any more.
void Oracle::held_up(Link& link) {
  Session* const session = session_of(link);
  if (session == nullptr) return;
  for (auto& [number, consumer] : session->consumers)
    if (consumer.queue != nullptr) forget_order(*consumer.queue, true);
}

void Oracle::forget_order(Queue& place, bool for_good) {
  for (auto& [position, entry] : place.ready) entry.first->in_order = false;
  place.ready.clear();
  place.unclear_us = world_.now_us();
  place.order_unknown = place.order_unknown || for_good;
}

}  // namespace sluice::sim
