#include "oracle.h"

#include <algorithm>
#include <utility>

#include "describe.h"

namespace sluice::sim {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

Sent& Oracle::write(Sent sent) {
  sent.serial = sent_.size() + 1;
  sent_.push_back(std::move(sent));
  return sent_.back();
}

Queue& Oracle::queue(const std::string& name) {
  const auto [at, fresh] = queues_.try_emplace(name);
  Queue& queue = at->second;
  if (!fresh) return queue;
  queue.name = name;
  if (name.ends_with(".dlq")) {
    queue.origin = &this->queue(name.substr(0, name.size() - 4));
    queue.origin->dead = &queue;
    queue.attempts_max = ~std::uint64_t{0};
  }
  return queue;
}

void Oracle::is_hostile(const Link& link) {
  hostile_.insert(link.id);
  if (Session* const session = session_of(link)) session->hostile = true;
}

void Oracle::started(journal::Journal& journal) {
  journal_ = &journal;
  ++lives_;
  first_turn_ = turn_ + 1;
  turn_ends_.clear();
  made_after_us_ = world_.now_us();
}

void Oracle::died() {
  for (Session& session : sessions_)
    if (!session.ended) end_session(session, true);
  by_link_.clear();
  hellos_.clear();
  journal_ = nullptr;
  handed_out_.clear();
  draining_us_ = kNever;
  lease_floor_ = last_lease_;
}

void Oracle::turn_begins() {
  check_turn_order();
  if (turn_ >= first_turn_) turn_ends_.push_back(raw(journal_->last()));
  ++turn_;
  all_safe_ = journal_->durable() == journal_->last();
  if (all_safe_) made_after_us_ = world_.now_us();
}

// S2: what was asked in that turn is answered once its records are safe.
void Oracle::check_durable(const std::string& what, std::uint64_t turn) {
  const std::uint64_t needed = turn == turn_ ? raw(journal_->last()) : turn_ends_[turn - first_turn_];
  if (raw(journal_->durable()) >= needed) return;
  world_.fail("S2", what + " left while sequence " + std::to_string(needed) + " is not durable, only " +
                        std::to_string(raw(journal_->durable())));
}

Session* Oracle::session_of(const Link& link) {
  const auto found = by_link_.find(link.id);
  return found == by_link_.end() || found->second->ended ? nullptr : found->second;
}

void Oracle::end_session(Session& session, bool died) {
  session.ended = true;
  for (const std::uint64_t number : session.leases) {
    Lease& lease = leases_.at(number);
    if (lease.state != LeaseState::live && lease.state != LeaseState::asked) continue;
    Copy& copy = *lease.copy;
    if (lease.state == LeaseState::asked && lease.asked == Asked::ack) maybe_acked(copy);
    if (!died) copy.suspect = true;
    const bool returns = died && lease.state == LeaseState::live && lease.deadline_us > world_.now_us() + 5 * kMs;
    lease.state = LeaseState::gone;
    // After a crash open leases return free of charge, and to their old place.
    if (returns) ready(copy);
  }
  if (!died) {
    world_.hit(Mark::holder_gone);
    for (auto& [number, consumer] : session.consumers)
      if (consumer.queue != nullptr) forget_order(*consumer.queue, false);
  }
  session.leases.clear();
  session.unconfirmed.clear();
  session.pending.clear();
}

void Oracle::maybe_acked(Copy& copy) {
  copy.maybe_acked = true;
  ++copy.queue->maybe_acks;
}

// It still may say its last words; its leases may return from now on.
void Oracle::holder_gone(Link& link) {
  Session* const session = session_of(link);
  if (session == nullptr || std::exchange(session->closing, true)) return;
  for (const std::uint64_t number : session->leases) {
    Lease& lease = leases_.at(number);
    if (lease.state != LeaseState::live && lease.state != LeaseState::asked) continue;
    lease.copy->suspect = true;
    if (lease.state == LeaseState::asked && lease.asked == Asked::ack) maybe_acked(*lease.copy);
    lease.state = LeaseState::gone;
  }
  for (auto& [number, consumer] : session->consumers)
    if (consumer.queue != nullptr) forget_order(*consumer.queue, false);
  world_.hit(Mark::holder_gone);
}

void Oracle::received(Link& link, std::string_view frame, std::size_t parts) {
  ++event_;
  world_.trace.mix(link.id);
  world_.trace.mix(frame);
  if (parts != 1) return;
  const auto decoded = wire::decode_client_frame(frame);
  if (world_.trace.wants_text())
    world_.tell("c" + std::to_string(link.id) + " > " +
                (decoded ? describe(*decoded) : "malformed, " + std::to_string(frame.size()) + " bytes"));
  if (decoded) take(link, session_of(link), *decoded);
}

void Oracle::take(Link& link, Session* session, const wire::ClientFrame& frame) {
  if (const auto* hello = std::get_if<wire::Hello>(&frame)) return take_hello(link, *hello);
  if (session == nullptr) return;
  std::visit(Overloaded{
                 [](const wire::Heartbeat&) {},
                 [&](const wire::Bye&) { end_session(*session, false); },
                 [](const wire::Hello&) {},
                 [&](const wire::Publish& publish) { take_publish(*session, publish); },
                 [&](const wire::Consume& consume) { take_consume(*session, consume); },
                 [&](const wire::Cancel& cancel) {
                   Pending pending{turn_, event_, Pending::Kind::cancel, {}, {}, cancel.consumer, {}};
                   session->pending.insert_or_assign(cancel.request, std::move(pending));
                 },
                 [&](const wire::Settle& settle) { take_settle(*session, settle); },
                 [&](const wire::Request& request) { take_request(*session, request); },
             },
             frame);
}

void Oracle::take_hello(Link& link, const wire::Hello& hello) {
  if (Session* const old = session_of(link)) {
    end_session(*old, false);
    world_.hit(Mark::hello_again);
  }
  hellos_[link.id] = hello;
}

void Oracle::sent(Link& link, std::string_view frame) {
  ++event_;
  world_.trace.mix(link.id);
  world_.trace.mix(frame);
  const auto decoded = wire::decode_broker_frame(frame);
  if (!decoded) world_.fail("frame", "the broker sent what cannot be decoded: " + decoded.error().text);
  if (world_.trace.wants_text()) world_.tell("c" + std::to_string(link.id) + " < " + describe(*decoded));
  gave(link, *decoded);
}

void Oracle::gave(Link& link, const wire::BrokerFrame& frame) {
  if (const auto* welcome = std::get_if<wire::Welcome>(&frame)) return gave_welcome(link, *welcome);
  Session* const session = session_of(link);
  if (const auto* bye = std::get_if<wire::Bye>(&frame)) {
    if (bye->code == static_cast<std::uint64_t>(ErrorCode::heartbeat_missed)) world_.hit(Mark::session_silent);
    if (bye->code == static_cast<std::uint64_t>(ErrorCode::slow_peer)) world_.hit(Mark::session_slow);
    if (bye->code == static_cast<std::uint64_t>(ErrorCode::malformed_frame)) world_.hit(Mark::session_malformed);
    if (session != nullptr) end_session(*session, false);
    return;
  }
  if (session == nullptr) {
    // Lines of a session whose end was told go on until the broker acts on it.
    return;
  }
  std::visit(Overloaded{
                 [](const wire::Heartbeat&) {},
                 [](const wire::Bye&) {},
                 [&](const wire::ErrorFrame& error) {
                   if (error.error.code != static_cast<std::uint64_t>(ErrorCode::bad_credit)) return;
                   for (auto& [number, consumer] : session->consumers) consumer.exact = false;
                 },
                 [](const wire::Welcome&) {},
                 [&](const wire::Confirm& confirm) { gave_confirm(*session, confirm); },
                 [&](const wire::Reply& reply) { gave_reply(*session, reply); },
                 [&](const wire::Deliver& deliver) { gave_deliver(link, *session, deliver); },
                 [&](const wire::LeaseLost& lost) { gave_lost(*session, lost); },
                 [&](const wire::ConsumerClosed& closed) { session->consumers.erase(closed.consumer); },
                 [&](const wire::Settled& settled) { gave_settled(*session, settled); },
                 [](const wire::Draining&) {},
             },
             frame);
}

void Oracle::gave_welcome(Link& link, const wire::Welcome& welcome) {
  const auto hello = hellos_.find(link.id);
  if (hello == hellos_.end()) world_.fail("S26", "WELCOME without HELLO");
  Session session;
  session.number = welcome.session;
  session.producer = hello->second.producer;
  session.hostile = hostile_.contains(link.id);
  hellos_.erase(hello);
  if (!session.producer.empty() && welcome.producer_sequence < highest_[session.producer])
    world_.fail("S13", "WELCOME says producer_sequence " + std::to_string(welcome.producer_sequence) + ", but " +
                           std::to_string(highest_[session.producer]) + " was confirmed");
  sessions_.push_back(std::move(session));
  by_link_[link.id] = &sessions_.back();
}

std::string Oracle::unanswered() const {
  for (const auto& session : sessions_) {
    if (session.ended || session.closing) continue;
    if (!session.unconfirmed.empty())
      return "sequence " + std::to_string(session.unconfirmed.begin()->first) + " of session " +
             std::to_string(session.number);
    if (session.hostile) continue;
    if (!session.pending.empty())
      return "request " + std::to_string(session.pending.begin()->first) + " " + session.pending.begin()->second.verb +
             " of session " + std::to_string(session.number);
  }
  return {};
}

}  // namespace sluice::sim
