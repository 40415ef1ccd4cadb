#include "engine/publisher.h"

#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"
#include "engine/topic_pattern.h"
#include "wire/errors.h"

namespace sluice::engine {
namespace {

// Time that a refused producer is asked to wait: long enough to be no busy loop, short enough not to be felt.
constexpr std::uint64_t kRetryAfterMs = 100;
constexpr std::uint64_t kTopicDedupWindowMs = 120'000;

wire::ErrorBody full_error(const Queue& queue) {
  return wire::error_body({ErrorCode::queue_full,
                           "queue " + queue.name + " is at its limit: max_messages " +
                               std::to_string(queue.policy.max_messages) + ", max_bytes " +
                               std::to_string(queue.policy.max_bytes) + " (0: none)",
                           kRetryAfterMs});
}

wire::ErrorBody keys_full_error(std::string_view target) {
  return wire::error_body({ErrorCode::dedup_limit,
                           std::to_string(DedupKeys::kKeysMax) + " deduplication keys are remembered for " +
                               std::string(target) + ", the limit",
                           kRetryAfterMs});
}

bool drops_oldest(Overflow overflow) {
  return overflow == Overflow::drop_oldest || overflow == Overflow::dead_letter_oldest;
}

std::uint64_t size_of(const wire::PublishMessage& message) { return message.payload.size() + message.headers.size(); }

}  // namespace

void Publisher::publish(Peer& peer, const wire::Publish& frame, const Now& now) {
  const std::uint64_t count = frame.messages.size();
  if (peer.producer->leaves_gap(frame.first_sequence)) {
    const std::string text = "sequence " + std::to_string(frame.first_sequence) + " follows " +
                             std::to_string(peer.producer->last_sequence()) + ": what is between is missing";
    return refuse(peer, frame.first_sequence, count, wire::error_body(ErrorCode::sequence_gap, text));
  }
  Target target{frame.queue, frame.kind, {}};
  for (std::uint64_t i = 0; i < count; ++i) publish_one(peer, target, frame.first_sequence + i, frame.messages[i], now);
  answers(peer);
}

void Publisher::publish_one(Peer& peer, Target& target, std::uint64_t sequence, const wire::PublishMessage& message,
                            const Now& now) {
  if (target.kind == wire::PublishKind::queue && peer.producer->find(sequence)) {
    if (Queue* const queue = queues_.find(target.name)) ++queue->counters.deduplicated;
  }
  if (answer_again(peer, sequence)) return;
  if (const auto error = check(peer, message)) return refuse_one(peer, sequence, *error);
  peer.unconfirmed_messages += 1;
  peer.unconfirmed_bytes += size_of(message);
  if (target.queues.empty()) {
    if (const auto error = find_queues(target)) return refuse_one(peer, sequence, *error);
  }
  if (Queue* const full = decide(peer, target, sequence, message, now, nullptr))
    block(peer, target, *full, sequence, message, {next_order_++, now.moment_ms() + full->policy.block_timeout_ms});
}

// A sequence has one answer, however often it is asked for. False: it is not known yet.
bool Publisher::answer_again(Peer& peer, std::uint64_t sequence) {
  if (sequence > peer.producer->last_sequence() || mutant("resend_enqueued_twice")) return false;
  if (const auto id = peer.producer->find(sequence)) {
    add_accepted(peer.confirm.accepted, sequence, *id);
    return true;
  }
  if (const wire::ErrorBody* const error = peer.producer->find_refused(sequence)) {
    add_refused(peer.confirm.refused, sequence, *error);
    return true;
  }
  // It waits already: the answer goes to the session that asked last.
  Blocked* const waiting = peer.producer->find_blocked(sequence);
  if (waiting != nullptr) hand_over(*waiting, peer);
  return waiting != nullptr;
}

// What is wrong with the message itself, wherever it goes.
std::optional<wire::ErrorBody> Publisher::check(const Peer& peer, const wire::PublishMessage& message) const {
  if (held_) return held_;
  const std::uint64_t bytes = size_of(message);
  if (bytes > message_bytes_max_)
    return wire::error_body(ErrorCode::frame_too_large, "payload and headers have " + std::to_string(bytes) +
                                                            " bytes, at most " + std::to_string(message_bytes_max_) +
                                                            " are allowed");
  // One message larger than the whole window may still pass alone.
  const bool over = peer.unconfirmed_messages >= window_.messages ||
                    (peer.unconfirmed_messages > 0 && peer.unconfirmed_bytes + bytes > window_.bytes);
  if (over)
    return wire::error_body(ErrorCode::publish_window, "more than " + std::to_string(window_.messages) +
                                                           " messages or " + std::to_string(window_.bytes) +
                                                           " bytes unconfirmed");
  return std::nullopt;
}

std::optional<wire::ErrorBody> Publisher::find_queues(Target& target) {
  if (target.kind == wire::PublishKind::topic) {
    if (auto error = topic_error(target.name)) return wire::error_body(ErrorCode::bad_topic, *std::move(error));
    topics_.match(target.name, target.queues);
    if (target.queues.empty())
      return wire::error_body(ErrorCode::no_route, "no queue is bound to a pattern of " + std::string(target.name));
    return std::nullopt;
  }
  const Result<Queue*> queue = queues_.get_or_create(target.name);
  if (!queue) return wire::error_body(queue.error());
  target.queues = {*queue};
  return std::nullopt;
}

Publisher::Remembered Publisher::remembered(Target& target, std::string_view key) {
  if (key.empty()) return {};
  if (target.kind == wire::PublishKind::topic) {
    std::string scoped(target.name);  // a topic holds no space: no two of topic and key look alike
    return {&topic_keys_, kTopicDedupWindowMs, scoped.append(" ").append(key)};
  }
  Queue& queue = *target.queues.front();
  if (queue.policy.dedup_window_ms == 0) return {};
  if (queue.keys == nullptr) queue.keys = std::make_unique<DedupKeys>();
  return {queue.keys.get(), queue.policy.dedup_window_ms, std::string(key)};
}

Queue* Publisher::decide(Peer& peer, Target& target, std::uint64_t sequence, const wire::PublishMessage& message,
                         const Now& now, const Blocked* waited) {
  const Remembered memory = remembered(target, message.dedup_key);
  if (memory.keys != nullptr) {
    if (const auto id = memory.keys->find(memory.key, memory.window_ms, now)) {
      for (Queue* queue : target.queues) ++queue->counters.deduplicated;
      if (peer.producer->number() != 0) records_.accepted(peer.producer->number(), sequence, *id);
      accept_one(peer, sequence, *id);
      return nullptr;
    }
    if (memory.keys->full()) {
      refuse_one(peer, sequence, keys_full_error(target.name));
      return nullptr;
    }
  }
  // First whether all take it, then all get it: a topic's queues get it together or not at all. One that has room keeps what it has,
  // also where dead letters that make room in another one fill it meanwhile.
  const std::uint64_t bytes = size_of(message);
  Queue* waits_for = nullptr;
  for (Queue* queue : target.queues) {
    const Room room = room_in(*queue, bytes, waited);
    if (room == Room::no) {
      ++queue->counters.refused;
      refuse_one(peer, sequence, full_error(*queue));
      return nullptr;
    }
    if (room == Room::wait && waits_for == nullptr) waits_for = queue;
  }
  if (waits_for != nullptr) return waits_for;
  for (Queue* queue : target.queues)
    if (drops_oldest(queue->policy.overflow)) make_room(*queue, bytes, now);
  Publication publication;
  publication.producer = peer.producer->number();
  if (publication.producer != 0) publication.sequence = sequence;
  if (target.kind == wire::PublishKind::topic) publication.topic = target.name;
  if (memory.keys != nullptr) publication.dedup_key = message.dedup_key;
  const MessageId id = enqueue(target, message, publication, now);
  if (memory.keys != nullptr) memory.keys->add(memory.key, id, now);
  accept_one(peer, sequence, id);
  return nullptr;
}

// `waited`: the publish that stands first in line there, if it is that one's turn.
Publisher::Room Publisher::room_in(const Queue& queue, std::uint64_t bytes, const Blocked* waited) const {
  const bool behind_others =
      !queue.blocked.empty() && (waited == nullptr || queue.blocked.begin()->second.get() != waited);
  if (!behind_others && !is_full(queue, bytes)) return Room::yes;
  if (queue.policy.max_bytes != 0 && bytes > queue.policy.max_bytes) return Room::no;  // never fits
  switch (queue.policy.overflow) {
    case Overflow::reject:
      return Room::no;
    case Overflow::block:
      return Room::wait;
    case Overflow::drop_oldest:
    case Overflow::dead_letter_oldest:
      break;
  }
  if (!is_full(queue, bytes))
    return Room::yes;  // others wait since the policy was another one: no reason to refuse this one
  // Enough of those that are not leased, counted before any of them goes.
  std::uint64_t messages = queue.count();
  std::uint64_t held_bytes = queue.bytes;
  for (const Message* message = queue.first; message != nullptr; message = message->queue_next) {
    if (message->state != MessageState::leased) {
      messages -= 1;
      held_bytes -= message->size();
    }
    const bool fits = (queue.policy.max_messages == 0 || messages < queue.policy.max_messages) &&
                      (queue.policy.max_bytes == 0 || held_bytes + bytes <= queue.policy.max_bytes);
    if (fits) return Room::yes;
  }
  return Room::no;
}

void Publisher::make_room(Queue& queue, std::uint64_t bytes, const Now& now) {
  Message* message = queue.first;
  while (message != nullptr && is_full(queue, bytes)) {
    Message* const next = message->queue_next;
    if (message->state != MessageState::leased) {
      if (queue.policy.overflow == Overflow::dead_letter_oldest && !queue.dead_letters) {
        dead_letters_.bury(*message, DeadReason::overflow, Cause::none, now);
      } else {
        messages_.end(*message, Ended::dropped);
      }
    }
    message = next;
  }
  SLUICE_CHECK(!is_full(queue, bytes));
}

MessageId Publisher::enqueue(const Target& target, const wire::PublishMessage& message, const Publication& publication,
                             const Now& now) {
  const MessageId id = messages_.next_id();
  copies_.clear();
  if (target.queues.size() == 1 && !target.queues.front()->policy.durable) {
    copies_.push_back(Message::make(message.payload, message.headers));
  } else {
    Body& body = *Body::make(message.payload, message.headers);
    for (const Queue* queue : target.queues)
      copies_.push_back(queue->policy.durable ? Message::make_kept(body) : Message::make(body));
  }
  for (std::size_t i = 0; i < target.queues.size(); ++i)
    messages_.publish(*target.queues[i], *copies_[i], id, message, now);
  records_.published(copies_, publication, now);
  return id;
}

void Publisher::accept_one(Peer& peer, std::uint64_t sequence, MessageId id) {
  peer.producer->accepted(sequence, raw(id));
  add_accepted(peer.confirm.accepted, sequence, raw(id));
}

void Publisher::refuse(Peer& peer, std::uint64_t first_sequence, std::uint64_t count, const wire::ErrorBody& error) {
  for (std::uint64_t i = 0; i < count; ++i)
    if (!answer_again(peer, first_sequence + i)) refuse_one(peer, first_sequence + i, error);
  answers(peer);
}

void Publisher::refuse_one(Peer& peer, std::uint64_t sequence, const wire::ErrorBody& error) {
  ++refused_;
  // After a gap the missing ones may still come: they are not decided.
  if (!peer.producer->leaves_gap(sequence)) {
    peer.producer->refused(sequence, error);
    if (peer.producer->number() != 0) records_.refused(peer.producer->number(), sequence, error);
  }
  add_refused(peer.confirm.refused, sequence, error);
}

void Publisher::block(Peer& peer, const Target& target, Queue& queue, std::uint64_t sequence,
                      const wire::PublishMessage& message, Line line) {
  auto blocked = std::make_unique<Blocked>();
  blocked->peer = &peer;
  blocked->queue = &queue;
  blocked->order = line.order;
  blocked->sequence = sequence;
  blocked->target = target.name;
  blocked->kind = target.kind;
  blocked->payload = message.payload;
  blocked->headers = message.headers;
  blocked->dedup_key = message.dedup_key;
  blocked->message = message;
  blocked->message.payload = blocked->payload;
  blocked->message.headers = blocked->headers;
  blocked->message.dedup_key = blocked->dedup_key;
  blocked_wheel_.set(*blocked, line.until_ms);
  peer.producer->block(sequence, *blocked);
  peer.blocked_messages += 1;
  peer.blocked_bytes += blocked->size();
  blocked_queues_.emplace(queue.name, &queue);
  queue.blocked.emplace(blocked->order, std::move(blocked));
}

void Publisher::hand_over(Blocked& blocked, Peer& to) {
  Peer& from = *blocked.peer;
  const std::uint64_t bytes = blocked.size();
  from.blocked_messages -= 1;
  from.blocked_bytes -= bytes;
  from.unconfirmed_messages -= 1;
  from.unconfirmed_bytes -= bytes;
  blocked.peer = &to;
  to.blocked_messages += 1;
  to.blocked_bytes += bytes;
  to.unconfirmed_messages += 1;
  to.unconfirmed_bytes += bytes;
}

// Out of the queue's line; the answer is the caller's next step.
std::unique_ptr<Blocked> Publisher::unblock(Blocked& blocked) {
  Queue& queue = *blocked.queue;
  Peer& peer = *blocked.peer;
  blocked_wheel_.cancel(blocked);
  peer.producer->unblock(blocked.sequence);
  peer.blocked_messages -= 1;
  peer.blocked_bytes -= blocked.size();
  const auto at = queue.blocked.find(blocked.order);
  std::unique_ptr<Blocked> taken = std::move(at->second);
  queue.blocked.erase(at);
  if (queue.blocked.empty()) blocked_queues_.erase(queue.name);
  return taken;
}

void Publisher::admit_blocked(const Now& now) {
  blocked_wheel_.advance(now.steady_ms, ~std::size_t{0}, [&](Blocked& late) {
    blocked_wheel_.set(late, late.when_ms);  // unblock() takes it off again
    Peer& peer = *late.peer;
    const wire::ErrorBody error = full_error(*late.queue);
    ++late.queue->counters.refused;
    const std::unique_ptr<Blocked> taken = unblock(late);
    refuse_one(peer, taken->sequence, error);
    answers(peer);
  });
  std::vector<Queue*> queues;
  for (const auto& [name, queue] : blocked_queues_) queues.push_back(queue);
  for (Queue* queue : queues) admit_blocked(*queue, now);
}

void Publisher::admit_blocked(Queue& queue, const Now& now) {
  while (!queue.blocked.empty()) {
    Blocked& first = *queue.blocked.begin()->second;
    if (is_full(queue, first.size()) && queue.policy.overflow == Overflow::block) return;
    Peer& peer = *first.peer;
    Target target{first.target, first.kind, {}};
    if (auto error = find_queues(target)) {
      const std::unique_ptr<Blocked> taken = unblock(first);
      refuse_one(peer, taken->sequence, *error);
    } else if (Queue* const full = decide(peer, target, first.sequence, first.message, now, &first)) {
      if (full == &queue) return;
      // Room here, but not in another queue of the topic: it waits on there, in its old place and for what is left of its time.
      const Line line{first.order, first.when_ms};
      const std::unique_ptr<Blocked> taken = unblock(first);
      block(peer, target, *full, taken->sequence, taken->message, line);
    } else {
      unblock(first);
    }
    answers(peer);
  }
}

void Publisher::answers(Peer& peer) {
  if (peer.confirms) return;
  peer.confirms = true;
  confirming_.push_back(&peer);
}

void Publisher::confirm() {
  for (Peer* peer : confirming_) {
    peer->confirms = false;
    peer->unconfirmed_messages = peer->blocked_messages;
    peer->unconfirmed_bytes = peer->blocked_bytes;
    peer->confirm.up_to = peer->producer->decided_up_to();
    // Nothing to tell yet: everything of this turn waits.
    if (peer->confirm.accepted.empty() && peer->confirm.refused.empty()) continue;
    effects_.confirm(peer->session, peer->confirm);
    peer->confirm.accepted.clear();
    peer->confirm.refused.clear();
  }
  confirming_.clear();
}

void Publisher::forget(Peer& peer) {
  if (peer.confirms) std::erase(confirming_, &peer);
  while (Blocked* const blocked = peer.producer->blocked_of(peer)) {
    const std::unique_ptr<Blocked> taken = unblock(*blocked);
    peer.producer->forget_blocked(taken->sequence);
  }
}

void Publisher::forget(Queue& queue) {
  while (!queue.blocked.empty()) {
    Peer& peer = *queue.blocked.begin()->second->peer;
    const std::unique_ptr<Blocked> taken = unblock(*queue.blocked.begin()->second);
    refuse_one(peer, taken->sequence,
               wire::error_body(ErrorCode::queue_deleted, "queue " + queue.name + " was deleted"));
    answers(peer);
  }
}

}  // namespace sluice::engine
