#include "consumer.h"

#include <algorithm>
#include <utility>

#include "describe.h"

namespace sluice::sim {
namespace {

const char* const kPatterns[] = {"t.*", "t.#", "#", "t.1", "u.1"};
const char* const kReasons[] = {"", "timeout", "cannot parse"};

}  // namespace

Worker::Worker(Stage& stage, std::string name, std::uint64_t salt) : Client(stage, std::move(name), salt) {
  credit_messages_ = random_.between(1, stage.settings.credit_max);
  credit_bytes_ = random_.chance(70) ? 1U << 20 : random_.between(1, 3 * stage.settings.payload_max);
  const std::uint64_t speeds[] = {0, 1, 10, 50};
  slowness_ = random_.one_of(speeds);
  const std::uint64_t acks[] = {100, 90, 60};
  ack_percent_ = random_.one_of(acks);
  world_.after(random_.below(kSecond), [this] { tick(); });
}

void Worker::on_open(const wire::Welcome&) {
  const std::uint64_t count = random_.between(1, 2);
  for (std::uint64_t i = 0; i < count; ++i) consume();
}

void Worker::on_closed() {
  if (!held_.empty()) forgotten_lease_ = held_.begin()->first;
  held_.clear();
  consumers_.clear();
}

void Worker::consume() {
  const Settings& settings = stage_.settings;
  std::string queue = settings.queues[random_.below(settings.queues.size())].name;
  if (random_.chance(10)) queue += ".dlq";
  wire::Consume frame;
  frame.request = next_request();
  frame.consumer = next_consumer_++;
  if (settings.topic_percent != 0 && random_.chance(15)) {
    frame.topic = random_.one_of(kPatterns);
  } else {
    frame.queue = queue;
  }
  frame.credit_messages = credit_messages_;
  frame.credit_bytes = credit_bytes_;
  consumers_[frame.consumer] = true;
  send(frame);
}

// Now and then it stops one consumer and starts another one.
void Worker::tick() {
  if (stage_.calm) return;
  world_.after(random_.between(500 * kMs, 5 * kSecond), [this] { tick(); });
  if (!open()) return;
  if (random_.chance(30) && !consumers_.empty()) {
    send(wire::Cancel{next_request(), consumers_.begin()->first});
    consumers_.erase(consumers_.begin());
    consume();
  }
  if (forgotten_lease_ != 0 && stage_.settings.on(Mark::late_settlement)) {
    const std::uint64_t lease = std::exchange(forgotten_lease_, 0);
    wire::Settle frame;
    frame.request = next_request();
    frame.settlements.push_back({wire::Verb::ack, lease, lease, {}, {}, {}});
    send(frame);
  }
}

void Worker::on_frame(const wire::BrokerFrame& frame) {
  if (const auto* deliver = std::get_if<wire::Deliver>(&frame)) return take(*deliver);
  if (const auto* closed = std::get_if<wire::ConsumerClosed>(&frame)) {
    consumers_.erase(closed->consumer);
    if (!stage_.calm) consume();
    return;
  }
  if (const auto* reply = std::get_if<wire::Reply>(&frame)) {
    // A CONSUME was refused: another one later.
    if (reply->error && !stage_.calm)
      world_.after(200 * kMs, [this] {
        if (open() && consumers_.size() < 3) consume();
      });
    return;
  }
  const auto* lost = std::get_if<wire::LeaseLost>(&frame);
  if (lost == nullptr) return;
  wire::Settle grants;
  for (const wire::LeaseRange& range : lost->ranges) grant(range.first, range.last, grants);
  if (!grants.grants.empty()) send(grants);
}

void Worker::take(const wire::Deliver& deliver) {
  std::uint64_t lease = deliver.first_lease;
  bool poison = false;
  for (const wire::Delivery& delivery : deliver.deliveries) {
    const Sent* const sent = stage_.oracle.find(serial_of(delivery.payload));
    held_[lease] = {deliver.consumer, delivery.payload.size() + delivery.headers.size(), sent->poison};
    poison = poison || sent->poison;
    ++lease;
  }
  if (poison && !stage_.calm) {
    world_.hit(Mark::poison_message);
    if (stage_.settings.on(Mark::client_killed) && random_.chance(50)) {
      world_.hit(Mark::client_killed);
      return kill(true);
    }
  }
  const std::uint64_t last = lease - 1;
  if (!poison && (stage_.calm || random_.chance(60))) return settle_later(deliver.first_lease, last, deliver.lease_ms);
  for (std::uint64_t each = deliver.first_lease; each <= last; ++each) settle_later(each, each, deliver.lease_ms);
}

void Worker::settle_later(std::uint64_t first, std::uint64_t last, std::uint64_t lease_ms) {
  const std::uint64_t session = this->session();
  std::uint64_t work_us = random_.below(500);
  if (!stage_.calm) {
    if (slowness_ != 0) work_us += random_.below(lease_ms * kMs * slowness_ / 100);
    if (stage_.settings.on(Mark::late_settlement) && random_.chance(3)) {
      world_.hit(Mark::late_settlement);
      work_us = lease_ms * kMs + random_.below(500 * kMs);
    }
  }
  world_.after(work_us, [this, first, last, session] { settle(first, last, session); });
}

void Worker::settle(std::uint64_t first, std::uint64_t last, std::uint64_t session) {
  if (!open() || this->session() != session) return;
  if (!stage_.calm && random_.chance(1)) return;  // forgotten; its lease runs out
  wire::Settle frame;
  if (!stage_.settings.settle_asks ? random_.chance(50) : random_.chance(95)) frame.request = next_request();
  frame.settlements.push_back(draw(first, last));
  const bool extends = frame.settlements.back().verb == wire::Verb::extend;
  if (!extends) grant(first, last, frame);
  send(frame);
  if (extends) settle_later(first, last, 100);
}

wire::Settlement Worker::draw(std::uint64_t first, std::uint64_t last) {
  wire::Settlement settlement{wire::Verb::ack, first, last, {}, {}, {}};
  if (stage_.calm) return settlement;
  const auto held = held_.find(first);
  const bool poison = held != held_.end() && held->second.poison;
  if (!poison && random_.chance(ack_percent_)) return settlement;
  const std::uint64_t dice = poison ? 0 : random_.below(100);
  if (dice < 45) {
    settlement.verb = wire::Verb::nack;
    settlement.reason = random_.one_of(kReasons);
    if (random_.chance(30)) settlement.delay_ms = random_.below(1'500);
  } else if (dice < 75) {
    settlement.verb = wire::Verb::release;
  } else if (dice < 85) {
    settlement.verb = wire::Verb::reject;
    settlement.reason = random_.one_of(kReasons);
  } else {
    settlement.verb = wire::Verb::extend;
    if (random_.chance(70)) settlement.lease_ms = random_.between(100, 3'000);
  }
  return settlement;
}

// As much credit as these leases took, once.
void Worker::grant(std::uint64_t first, std::uint64_t last, wire::Settle& frame) {
  for (std::uint64_t lease = first; lease <= last; ++lease) {
    const auto held = held_.find(lease);
    if (held == held_.end()) continue;
    const Held back = held->second;
    held_.erase(held);
    if (!consumers_.contains(back.consumer)) continue;
    if (!frame.grants.empty() && frame.grants.back().consumer == back.consumer) {
      frame.grants.back().messages += 1;
      frame.grants.back().bytes += back.bytes;
    } else {
      frame.grants.push_back({back.consumer, 1, back.bytes});
    }
  }
}

}  // namespace sluice::sim
