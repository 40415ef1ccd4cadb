// Publishing, as the oracle judges it: S2, S5, S13, S14, S26.
#include "describe.h"
#include "oracle.h"

namespace sluice::sim {
namespace {

// By the broker's clock a key may be forgotten a moment before or after its window ends.
constexpr std::uint64_t kKeyMarginUs = 50 * kMs;

}  // namespace

void Oracle::take_publish(Session& session, const wire::Publish& frame) {
  std::uint64_t sequence = frame.first_sequence;
  world_.operations += frame.messages.size();
  for (const wire::PublishMessage& message : frame.messages) {
    Sent* const sent = find(serial_of(message.payload));
    if (sent == nullptr) continue;
    const bool first = !sent->received;
    if (!first) {
      world_.hit(Mark::resent);
    } else {
      sent->received = true;
      sent->received_us = world_.now_us();
      sent->received_wall_us = world_.wall_us();
      sent->received_at = event_;
      sent->lives = lives_;
      sent->wall_steps = wall_steps_;
    }
    sent->last_received_us = world_.now_us();
    bind_copies(*sent, first);
    session.unconfirmed[sequence++] = {sent, turn_};
  }
}

// Where it goes if it is accepted now. One that was received before may have been accepted then: only what was bound both times is sure.
void Oracle::bind_copies(Sent& sent, bool first) {
  if (!sent.topic) {
    copy_in(sent, queue(sent.target)).sure = true;
    return;
  }
  std::set<Queue*> sure;
  for (const auto& [name, pattern] : bound_)
    if (matches(pattern, sent.target)) sure.insert(&queue(name));
  for (Copy& copy : sent.copies) copy.sure = copy.sure && sure.contains(copy.queue);
  for (Queue* each : sure) {
    Copy& copy = copy_in(sent, *each);
    if (first) copy.sure = true;
  }
  for (const auto& [name, pattern] : maybe_bound_)
    if (matches(pattern, sent.target)) copy_in(sent, queue(name));
}

bool Oracle::waits_somewhere(const Sent& sent) const {
  for (const Copy& copy : sent.copies)
    if (copy.queue->may_wait) return true;
  return false;
}

bool Oracle::may_be_bound(const std::string& name, const std::string& topic) const {
  for (const auto* bindings : {&bound_, &maybe_bound_})
    for (const auto& [queue, pattern] : *bindings)
      if (queue == name && matches(pattern, topic)) return true;
  return false;
}

Copy& Oracle::copy_in(Sent& sent, Queue& queue) {
  for (Copy& copy : sent.copies)
    if (copy.queue == &queue) return copy;
  Copy copy;
  copy.queue = &queue;
  copy.sent = &sent;
  sent.copies.push_back(copy);
  return sent.copies.back();
}

Session::Publication Oracle::answered(Session& session, std::uint64_t sequence) {
  const auto found = session.unconfirmed.find(sequence);
  if (found == session.unconfirmed.end())
    world_.fail("S26", "sequence " + std::to_string(sequence) + " of session " + std::to_string(session.number) +
                           " is answered twice, or was never sent");
  const Session::Publication publication = found->second;
  session.unconfirmed.erase(found);
  return publication;
}

void Oracle::gave_confirm(Session& session, const wire::Confirm& confirm) {
  if (session.hostile) return;  // it is told of sequences that it never sent
  for (const wire::Accepted& each : confirm.accepted)
    for (std::uint64_t i = 0; i < each.count; ++i) accepted(session, each.first_sequence + i, each.first_id + i);
  for (const wire::Refused& each : confirm.refused)
    for (std::uint64_t i = 0; i < each.count; ++i) refused(session, each.first_sequence + i, each.error);
}

void Oracle::accepted(Session& session, std::uint64_t sequence, std::uint64_t id) {
  const Session::Publication publication = answered(session, sequence);
  Sent& sent = *publication.sent;
  const std::string name = "message #" + std::to_string(sent.serial);
  check_durable("CONFIRM of " + name, publication.turn);
  world_.hit(Mark::confirmed);
  if (publication.turn != turn_) world_.hit(Mark::confirm_waited);
  if (sent.answer == Answer::refused) world_.fail("S13", name + " was refused before and is accepted now");
  if (sent.id != 0 && sent.id != id)
    world_.fail("S13", name + " has id " + std::to_string(id) + " now, " + std::to_string(sent.id) + " before");
  if (sent.answer == Answer::accepted) {
    world_.hit(Mark::resent_confirmed_again);
    return;
  }
  sent.answer = Answer::accepted;
  sent.id = id;
  if (!session.producer.empty()) {
    std::uint64_t& highest = highest_[session.producer];
    highest = std::max(highest, sequence);
  }
  const auto [owner, fresh] = by_id_.try_emplace(id, &sent);
  if (owner->second != &sent) {
    if (!share_id(*owner->second, sent))
      world_.fail(
          "S13", name + " and #" + std::to_string(owner->second->serial) + " were both given id " + std::to_string(id));
    KeyUse& use = keys_[{sent.topic, sent.target, sent.key}];
    if (use.id == id) use.at_us = std::min(use.at_us, sent.received_us);
    world_.hit(Mark::deduplicated_by_key);
    return;
  }
  // One that waited went to where its topic was bound when its wait was over.
  const bool waited = sent.topic && waits_somewhere(sent);
  for (Copy& copy : sent.copies) {
    if (waited) copy.sure = false;
    if (!copy.sure || copy.queue->origin != nullptr) continue;
    if (!sent.counted) ++copy.queue->entered;
    if (sent.topic) world_.hit(Mark::topic_fan_out);
    if (!copy.delivered) ready(copy);
  }
  sent.counted = true;
  if (sent.key.empty()) return;
  // The same key within its window is the same message.
  KeyUse& use = keys_[{sent.topic, sent.target, sent.key}];
  const std::uint64_t window_us = sent.topic ? 120 * kSecond : queue(sent.target).dedup_window_us;
  if (use.id != 0 && !waits_somewhere(sent) && sent.received_us >= use.at_us && use.window_us == window_us &&
      use.steps == wall_steps_ && use.emptied_at == queue(sent.target).emptied_at &&
      sent.last_received_us + kKeyMarginUs < use.at_us + window_us)
    world_.fail("S13", name + " with key " + sent.key + " was enqueued " +
                           std::to_string((sent.last_received_us - use.at_us) / kMs) + " ms after id " +
                           std::to_string(use.id) + " with the same key");
  use = {id, sent.received_us, window_us, sent.wall_steps, queue(sent.target).emptied_at};
}

void Oracle::refused(Session& session, std::uint64_t sequence, const wire::ErrorBody& error) {
  const Session::Publication publication = answered(session, sequence);
  Sent& sent = *publication.sent;
  check_durable("refusal of message #" + std::to_string(sent.serial), publication.turn);
  if (sent.answer == Answer::accepted)
    world_.fail("S13",
                "message #" + std::to_string(sent.serial) + " was accepted before and is refused now: " + error.text);
  if (error.name == "queue_full") world_.hit(Mark::refused_full);
  if (error.name == "no_route") world_.hit(Mark::topic_no_route);
  if (error.name == "publish_window") world_.hit(Mark::refused_window);
  if (error.name == "no_route") {
    for (const Copy& copy : sent.copies)
      if (copy.sure) world_.fail("S14", "no_route for a topic to which queue " + copy.queue->name + " is bound");
  }
  sent.answer = Answer::refused;
  if (!session.producer.empty() && error.name != "sequence_gap") {
    std::uint64_t& highest = highest_[session.producer];
    highest = std::max(highest, sequence);
  }
}

// Two with one key are one message. Which of them it is shows when it is delivered; until then it is the one whose answer left first.
bool Oracle::share_id(Sent& owner, Sent& other) {
  if (owner.key.empty() || owner.key != other.key || owner.target != other.target || owner.topic != other.topic)
    return false;
  other.duplicate = true;
  for (Copy& copy : owner.copies) {
    // Where it is placed depends on which one it is.
    if (owner.topic) copy.sure = false;
    not_ready(copy);
  }
  return true;
}

// It is in its place from this turn on, and nothing later of its priority may be handed out before it.
void Oracle::ready(Copy& copy) {
  const Sent& sent = *copy.sent;
  if (sent.id == 0 || sent.delay_ms != 0 || sent.ttl_ms != 0 || copy.suspect || copy.in_order) return;
  const Queue& queue = *copy.queue;
  if (queue.order_unknown || queue.origin != nullptr || queue.may_expire || queue.may_drop || queue.may_wait) return;
  if (queue.emptied_at >= sent.received_at || queue.replayed_at != 0) return;
  if (queue.unclear_us != 0 && made_after_us_ < queue.unclear_us + 10 * kMs) return;
  copy.in_order = true;
  copy.queue->ready[{9U - sent.priority, sent.id}] = {&copy, turn_};
}

void Oracle::not_ready(Copy& copy) {
  if (!copy.in_order) return;
  copy.in_order = false;
  copy.queue->ready.erase({9U - copy.sent->priority, copy.sent->id});
}

}  // namespace sluice::sim
