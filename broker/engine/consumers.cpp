#include "engine/consumers.h"

#include <algorithm>
#include <utility>

#include "engine/topic_pattern.h"
#include "wire/errors.h"

namespace sluice::engine {

Result<void> Consumers::add(Peer& peer, const wire::Consume& frame) {
  sweep_cancelled(peer);
  if (peer.consumers.contains(frame.consumer))
    return fail(ErrorCode::consumer_exists, "consumer " + std::to_string(frame.consumer) + " exists in this session");
  if (peer.consumers.size() >= consumers_max_)
    return fail(ErrorCode::consumer_limit, "a session has at most " + std::to_string(consumers_max_) + " consumers");
  if (frame.credit_messages > limits_.messages_max)
    return fail(ErrorCode::bad_credit, "credit_messages: must be at most " + std::to_string(limits_.messages_max) +
                                           ", is " + std::to_string(frame.credit_messages));
  if (frame.credit_bytes > limits_.bytes_max)
    return fail(ErrorCode::bad_credit, "credit_bytes: must be at most " + std::to_string(limits_.bytes_max) + ", is " +
                                           std::to_string(frame.credit_bytes));
  const Result<Queue*> queue = queue_for(peer, frame);
  if (!queue) return tl::unexpected<Error>(queue.error());

  auto consumer = std::make_unique<Consumer>();
  consumer->peer = &peer;
  consumer->session = peer.session;
  consumer->number = frame.consumer;
  consumer->queue = *queue;
  consumer->owns_queue = !frame.topic.empty();
  consumer->credit_messages = frame.credit_messages;
  consumer->credit_bytes = static_cast<std::int64_t>(frame.credit_bytes);
  dispatcher_.add(*consumer);
  peer.consumers.emplace(frame.consumer, std::move(consumer));
  ++count_;
  return {};
}

// The named one, or for a topic one of its own.
Result<Queue*> Consumers::queue_for(const Peer& peer, const wire::Consume& frame) {
  if (frame.topic.empty()) {
    if (!frame.policy.empty()) return fail(ErrorCode::bad_field, "policy: only with topic; a named queue is declared");
    return queues_.get_or_create(frame.queue);
  }
  if (!frame.queue.empty())
    return fail(ErrorCode::bad_field, "queue: must be empty with topic; a named queue is bound");
  if (auto error = pattern_error(frame.topic)) return fail(ErrorCode::bad_topic, *std::move(error));
  Policy base = queues_.defaults();
  base.durable = false;  // it goes with its session anyway
  Result<Policy> policy = read_policy(frame.policy, base);
  if (policy && policy->durable) policy = fail(ErrorCode::bad_policy, "durable: an unnamed subscription is not");
  if (!policy) return tl::unexpected<Error>(policy.error());
  const std::string name = "_sub-" + std::to_string(raw(peer.session)) + "-" + std::to_string(frame.consumer);
  if (queues_.find(name) != nullptr) return fail(ErrorCode::policy_conflict, "queue " + name + " exists");
  if (const Result<void> room = topics_.room(); !room) return tl::unexpected<Error>(room.error());
  const Result<Queue*> made = queues_.create(name, *policy, true);
  if (!made) return made;
  topics_.add(**made, frame.topic);
  records_.bound(**made, frame.topic);
  return made;
}

Result<Queue*> Consumers::cancel(Peer& peer, std::uint64_t number) {
  sweep_cancelled(peer);
  const auto found = peer.consumers.find(number);
  if (found == peer.consumers.end())
    return fail(ErrorCode::unknown_consumer, "no consumer " + std::to_string(number) + " in this session");
  Consumer& consumer = *found->second;
  dispatcher_.remove(consumer);
  consumer.cancelled = true;
  peer.cancelled.push_back(std::move(found->second));
  peer.consumers.erase(found);
  --count_;
  return consumer.owns_queue ? consumer.queue : nullptr;
}

std::vector<Queue*> Consumers::lose(Peer& peer, const Now& now) {
  std::vector<Queue*> orphans;
  const auto return_all = [&](Consumer& consumer) {
    forget_loss(consumer);
    while (consumer.oldest != nullptr) attempts_.holder_gone(*consumer.oldest, now);
  };
  for (auto& [number, consumer] : peer.consumers) {
    return_all(*consumer);
    dispatcher_.remove(*consumer);
    if (consumer->owns_queue) orphans.push_back(consumer->queue);
    --count_;
  }
  for (auto& consumer : peer.cancelled) return_all(*consumer);
  peer.consumers.clear();
  peer.cancelled.clear();
  return orphans;
}

void Consumers::close_all(Queue& queue) {
  tell_losses();  // those before have another reason
  for (Message* message = queue.first; message != nullptr; message = message->queue_next) {
    if (message->state != MessageState::leased) continue;
    note_loss(*message->lease);
    leases_.close(*message->lease);
  }
  tell_losses(ErrorCode::queue_deleted);
  const std::vector<Consumer*> closing = queue.consumers;
  for (Consumer* consumer : closing) {
    effects_.consumer_closed(
        consumer->session,
        {consumer->number, wire::error_body(ErrorCode::queue_deleted, "queue " + queue.name + " was deleted")});
    dispatcher_.remove(*consumer);
    consumer->peer->consumers.erase(consumer->number);
    --count_;
  }
}

void Consumers::expire(Lease& lease, const Now& now) {
  note_loss(lease);
  dispatcher_.touch(*lease.consumer);
  attempts_.expired(lease, now);
}

void Consumers::note_loss(const Lease& lease) {
  Consumer& consumer = *lease.consumer;
  const std::uint64_t number = raw(lease.id);
  if (consumer.lost.empty()) losers_.push_back(&consumer);
  if (!consumer.lost.empty() && consumer.lost.back().last + 1 == number) {
    consumer.lost.back().last = number;
  } else {
    consumer.lost.push_back({number, number});
  }
}

void Consumers::forget_loss(Consumer& consumer) {
  if (!consumer.lost.empty()) std::erase(losers_, &consumer);
}

void Consumers::tell_losses(ErrorCode why) {
  for (Consumer* consumer : losers_) {
    effects_.lease_lost(consumer->session,
                        {consumer->number, std::exchange(consumer->lost, {}), static_cast<std::uint64_t>(why)});
  }
  losers_.clear();
}

void Consumers::sweep_cancelled(Peer& peer) {
  std::erase_if(peer.cancelled, [](const auto& consumer) { return consumer->held == 0 && consumer->lost.empty(); });
}

}  // namespace sluice::engine
