#include "outbox/outbox.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/dead_letters.h"

namespace sluice::outbox {
namespace {

// A DELIVER frame is closed when it holds this much: larger ones gain nothing and delay what comes after.
constexpr std::size_t kDeliverBytesMax = 512 * 1024;
constexpr std::uint64_t kDeliverCountMax = 2'048;

wire::Delivery to_delivery(const engine::Message& message) {
  wire::Delivery delivery;
  delivery.id = raw(message.id);
  delivery.count = message.deliveries;
  delivery.payload = message.payload();
  delivery.headers = message.headers();
  delivery.priority = message.priority;
  delivery.attempts = message.attempts();
  return delivery;
}

wire::Buffer encoded(const wire::BrokerFrame& frame) {
  wire::Buffer buffer;
  wire::encode(frame, buffer);
  return buffer;
}

}  // namespace

void Outbox::open(SessionId session, const io::Route& route) {
  auto line = std::make_unique<Line>();
  line->session = session;
  line->route = route;
  SLUICE_CHECK(lines_.emplace(raw(session), std::move(line)).second);
}

void Outbox::close(SessionId session) {
  const auto found = lines_.find(raw(session));
  SLUICE_CHECK(found != lines_.end());
  Line& line = *found->second;
  bytes_ -= line.bytes;
  if (line.active) std::erase(active_, &line);
  lines_.erase(found);
}

void Outbox::confirm(SessionId session, const wire::Confirm& confirm) { add(session, confirm); }
void Outbox::lease_lost(SessionId session, const wire::LeaseLost& lost) { add(session, lost); }
void Outbox::consumer_closed(SessionId session, const wire::ConsumerClosed& closed) { add(session, closed); }
void Outbox::settled(SessionId session, const wire::Settled& settled) { add(session, settled); }
void Outbox::reply(SessionId session, const wire::Reply& reply) { add(session, reply); }
void Outbox::error(SessionId session, const wire::ErrorFrame& error) { add(session, error); }
void Outbox::add(SessionId session, const wire::BrokerFrame& frame) { push(session, encoded(frame)); }

void Outbox::deliver(SessionId session, std::uint64_t consumer, LeaseId first_lease, std::uint64_t lease_ms,
                     std::span<engine::Message* const> messages) {
  std::uint64_t lease = raw(first_lease);
  deliver_.begin(consumer, lease, lease_ms);
  for (const engine::Message* message : messages) {
    const bool closes = deliver_.count() > 0 &&
                        (deliver_.count() == kDeliverCountMax || deliver_.bytes() + message->size() > kDeliverBytesMax);
    if (closes) {
      push(session, deliver_.finish());
      deliver_.begin(consumer, lease, lease_ms);
    }
    wire::Delivery delivery = to_delivery(*message);
    wire::Buffer dead;
    if (message->queue->dead_letters && message->extras != nullptr) {
      wire::encode(engine::dead_map(*message), dead);
      delivery.dead = dead.view();
    }
    deliver_.append(delivery);
    ++lease;
  }
  push(session, deliver_.finish());
}

io::SendResult Outbox::send_now(const io::Route& route, const wire::BrokerFrame& frame) {
  wire::Buffer buffer = encoded(frame);
  return router_.send(route, buffer);
}

void Outbox::push(SessionId session, wire::Buffer&& frame) {
  const auto found = lines_.find(raw(session));
  if (found == lines_.end()) return;  // told to a session that ended in the same turn
  Line& line = *found->second;
  if (line.lost) return;
  line.bytes += frame.capacity();
  bytes_ += frame.capacity();
  line.frames.push_back({std::move(frame), Sequence{}});
  if (!line.active) {
    line.active = true;
    active_.push_back(&line);
  }
  if (line.bytes > options_.line_bytes_max) lose(line, Lost::slow);
}

void Outbox::seal(Sequence sequence) {
  for (Line* line : active_) {
    for (; line->sealed < line->frames.size(); ++line->sealed) line->frames[line->sealed].sequence = sequence;
  }
}

void Outbox::send_through(Sequence durable) {
  blocked_ = false;
  for (Line* line : active_) {
    if (!line->lost) send(*line, durable);
  }
  std::erase_if(active_, [](Line* line) {
    line->active = !line->frames.empty() && !line->lost;
    return !line->active;
  });
}

void Outbox::send(Line& line, Sequence durable) {
  bool sent = false;
  while (line.sealed > 0 && raw(line.frames.front().sequence) <= raw(durable)) {
    Frame& frame = line.frames.front();
    const std::uint64_t size = frame.bytes.capacity();
    const io::SendResult result = router_.send(line.route, frame.bytes);
    if (result == io::SendResult::gone) return lose(line, Lost::gone);
    if (result == io::SendResult::full) {
      blocked_ = true;
      break;
    }
    line.bytes -= size;
    bytes_ -= size;
    --line.sealed;
    line.frames.pop_front();
    sent = true;
  }
  if (sent) told_.push_back(line.session);
}

void Outbox::lose(Line& line, Lost why) {
  line.lost = true;
  lost_.push_back({line.session, why});
}

std::uint64_t Outbox::bytes(SessionId session) const {
  const auto found = lines_.find(raw(session));
  return found == lines_.end() ? 0 : found->second->bytes;
}

std::vector<LostSession> Outbox::take_lost() { return std::exchange(lost_, {}); }

}  // namespace sluice::outbox
