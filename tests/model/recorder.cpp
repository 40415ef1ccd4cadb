#include "recorder.h"

#include <algorithm>

namespace sluice::model {

void Recorder::confirm(SessionId session, const wire::Confirm& confirm) {
  Confirmed confirmed;
  confirmed.up_to = confirm.up_to;
  for (const wire::Accepted& run : confirm.accepted)
    for (std::uint64_t i = 0; i < run.count; ++i)
      confirmed.answers.emplace_back(run.first_sequence + i, Answer{run.first_id + i, 0});
  for (const wire::Refused& run : confirm.refused)
    for (std::uint64_t i = 0; i < run.count; ++i)
      confirmed.answers.emplace_back(run.first_sequence + i, Answer{0, run.error.code});
  std::sort(confirmed.answers.begin(), confirmed.answers.end());
  if (!told.confirmed.emplace(raw(session), std::move(confirmed)).second)
    throw Mismatch("two CONFIRM to session " + std::to_string(raw(session)) + " in one turn");
}

void Recorder::deliver(SessionId session, std::uint64_t consumer, LeaseId first, std::uint64_t lease_ms,
                       std::span<engine::Message* const> messages) {
  Handed handed;
  handed.first_lease = raw(first);
  handed.lease_ms = lease_ms;
  for (const engine::Message* message : messages) {
    handed.messages.push_back({raw(message->id), message->position, message->deliveries, message->priority,
                               message->attempts(), std::string(message->payload()), std::string(message->headers()),
                               message->queue->dead_letters ? engine::dead_map(*message) : wire::Map()});
  }
  if (!told.handed.emplace(ConsumerKey{raw(session), consumer}, std::move(handed)).second)
    throw Mismatch("two DELIVER to consumer " + std::to_string(consumer) + " in one turn");
}

void Recorder::lease_lost(SessionId session, const wire::LeaseLost& lost) {
  for (const wire::LeaseRange& range : lost.ranges)
    for (std::uint64_t lease = range.first; lease <= range.last; ++lease)
      told.lost.emplace(raw(session), lost.consumer, lease, lost.code);
}

void Recorder::consumer_closed(SessionId session, const wire::ConsumerClosed& closed) {
  told.closed.emplace(raw(session), closed.consumer, closed.error.code);
}

void Recorder::settled(SessionId session, const wire::Settled& settled) {
  SettledFrame frame{raw(session), settled.request, {}};
  for (const wire::SettleException& exception : settled.exceptions)
    for (std::uint64_t lease = exception.first_lease; lease <= exception.last_lease; ++lease)
      frame.exceptions.emplace_back(lease, exception.code);
  told.settled.push_back(std::move(frame));
}

void Recorder::reply(SessionId session, const wire::Reply& reply) {
  if (reply.error.has_value() == reply.result.has_value()) throw Mismatch("a REPLY has either a result or an error");
  told.replies.push_back(
      {raw(session), reply.request, reply.error ? reply.error->code : 0, reply.result ? *reply.result : wire::Map()});
}

void Recorder::error(SessionId session, const wire::ErrorFrame& error) {
  told.errors.emplace_back(raw(session), error.error.code);
}

void Recorder::enter(const engine::Message& message, bool published) {
  const std::uint64_t due_ms = message.state == engine::MessageState::delayed ? message.when_ms : 0;
  entered.push_back({raw(message.id), message.position, due_ms, message.queue->policy.dedup_window_ms, published,
                     message.queue->name, std::string(message.payload())});
}

}  // namespace sluice::model
