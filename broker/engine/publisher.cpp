#include "engine/publisher.h"

#include <algorithm>

#include "engine/dead_letters.h"
#include "wire/errors.h"

namespace sluice::engine {
namespace {

// Time that a refused producer is asked to wait: long enough to be no busy loop, short enough not to be felt.
constexpr std::uint64_t kRetryAfterMs = 100;

std::string full_text(const Queue& queue) {
  return "queue " + queue.name + " is at its limit: max_messages " + std::to_string(queue.policy.max_messages) +
         ", max_bytes " + std::to_string(queue.policy.max_bytes) + " (0: none)";
}

}  // namespace

void Publisher::publish(Peer& peer, const wire::Publish& frame, const Now& now) {
  const std::uint64_t count = frame.messages.size();
  if (peer.producer->leaves_gap(frame.first_sequence)) {
    const std::string text = "sequence " + std::to_string(frame.first_sequence) + " follows " +
                             std::to_string(peer.producer->last_sequence()) + ": what is between is missing";
    return refuse(peer, frame.first_sequence, count, wire::error_body(ErrorCode::sequence_gap, text));
  }
  if (frame.kind == wire::PublishKind::topic)
    return refuse(peer, frame.first_sequence, count, wire::error_body(ErrorCode::unsupported, "this broker has no topics"));
  Queue* queue = queues_.find(frame.queue);
  for (std::uint64_t i = 0; i < count; ++i)
    publish_one(peer, frame.queue, queue, frame.first_sequence + i, frame.messages[i], now);
  answers(peer);
}

void Publisher::publish_one(Peer& peer, std::string_view name, Queue*& queue, std::uint64_t sequence,
                            const wire::PublishMessage& message, const Now& now) {
  if (sequence <= peer.producer->last_sequence()) {
    if (const auto id = peer.producer->find(sequence)) {
      if (queue != nullptr) ++queue->counters.deduplicated;
      return add_accepted(peer.confirm.accepted, sequence, *id);
    }
  }
  if (const auto error = check(peer, message)) return refuse_one(peer, sequence, *error);
  if (queue == nullptr) {
    const Result<Queue*> made = queues_.get_or_create(name);
    if (!made) return refuse_one(peer, sequence, wire::error_body(made.error()));
    queue = *made;
  }
  if (is_full(*queue, message.payload.size() + message.headers.size())) {
    ++queue->counters.refused;
    return refuse_one(peer, sequence, wire::error_body({ErrorCode::queue_full, full_text(*queue), kRetryAfterMs}));
  }
  const Message& published = messages_.publish(*queue, message, now);
  peer.unconfirmed_messages += 1;
  peer.unconfirmed_bytes += published.size();
  peer.producer->accepted(sequence, raw(published.id));
  add_accepted(peer.confirm.accepted, sequence, raw(published.id));
}

std::optional<wire::ErrorBody> Publisher::check(const Peer& peer, const wire::PublishMessage& message) const {
  const std::uint64_t bytes = message.payload.size() + message.headers.size();
  if (bytes > message_bytes_max_)
    return wire::error_body(ErrorCode::frame_too_large, "payload and headers have " + std::to_string(bytes) +
                                                            " bytes, at most " + std::to_string(message_bytes_max_) +
                                                            " are allowed");
  if (!message.dedup_key.empty()) return wire::error_body(ErrorCode::unsupported, "dedup_key: needs the feature 'dedup'");
  // One message larger than the whole window may still pass alone.
  const bool over = peer.unconfirmed_messages >= window_.messages ||
                    (peer.unconfirmed_messages > 0 && peer.unconfirmed_bytes + bytes > window_.bytes);
  if (over)
    return wire::error_body(ErrorCode::publish_window, "more than " + std::to_string(window_.messages) + " messages or " +
                                                           std::to_string(window_.bytes) + " bytes unconfirmed");
  return std::nullopt;
}

void Publisher::refuse(Peer& peer, std::uint64_t first_sequence, std::uint64_t count, const wire::ErrorBody& error) {
  for (std::uint64_t i = 0; i < count; ++i) refuse_one(peer, first_sequence + i, error);
  answers(peer);
}

void Publisher::refuse_one(Peer& peer, std::uint64_t sequence, const wire::ErrorBody& error) {
  ++refused_;
  // After a gap the missing ones may still come: they are not decided.
  if (!peer.producer->leaves_gap(sequence)) peer.producer->refused(sequence);
  auto& runs = peer.confirm.refused;
  const bool continues = !runs.empty() && sequence == runs.back().first_sequence + runs.back().count &&
                         runs.back().error.code == error.code && runs.back().error.text == error.text;
  if (continues) {
    ++runs.back().count;
  } else {
    runs.push_back({sequence, 1, error});
  }
}

void Publisher::answers(Peer& peer) {
  if (peer.confirms) return;
  peer.confirms = true;
  confirming_.push_back(&peer);
}

void Publisher::confirm() {
  for (Peer* peer : confirming_) {
    peer->confirm.up_to = peer->producer->last_sequence();
    effects_.confirm(peer->session, peer->confirm);
    peer->confirm.accepted.clear();
    peer->confirm.refused.clear();
    peer->unconfirmed_messages = 0;
    peer->unconfirmed_bytes = 0;
    peer->confirms = false;
  }
  confirming_.clear();
}

void Publisher::forget(Peer& peer) {
  if (peer.confirms) std::erase(confirming_, &peer);
}

}  // namespace sluice::engine
