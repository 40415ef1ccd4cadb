#include <utility>

#include "consumer_core.h"
#include "convert.h"
#include "errors.h"
#include "headers.h"
#include "reason.h"
#include "sluice/consumer.h"
#include "validate.h"

namespace sluice {
namespace {

constexpr std::string_view kDropped = "dropped without settlement";

wire::Settlement settlement_of(wire::Verb verb, std::uint64_t lease) {
  return {verb, lease, lease, {}, std::nullopt, std::nullopt};
}

}  // namespace

Delivery::~Delivery() {
  if (!settled()) nack(kDropped);
}

Delivery::Delivery(Delivery&& other) noexcept = default;

Delivery& Delivery::operator=(Delivery&& other) noexcept {
  if (this == &other) return *this;
  if (!settled()) nack(kDropped);
  frame_ = std::move(other.frame_);
  payload_ = other.payload_;
  headers_ = other.headers_;
  dead_ = other.dead_;
  id_ = other.id_;
  lease_ = other.lease_;
  count_ = other.count_;
  attempts_ = other.attempts_;
  priority_ = other.priority_;
  extended_until_ = other.extended_until_;
  return *this;
}

Headers Delivery::headers() const { return internal::decode_headers(headers_); }

std::optional<DeadLetter> Delivery::dead() const {
  if (dead_.empty()) return std::nullopt;
  const auto map = wire::decode_map(dead_);
  return map ? std::optional(internal::to_dead_letter(*map)) : std::nullopt;
}

Milliseconds Delivery::lease_left() const {
  return settled() ? Milliseconds(0) : internal::ConsumerCore::lease_left(*this);
}

void Delivery::ack() {
  if (settled()) return;
  frame_->consumer->settle(*this, settlement_of(wire::Verb::ack, lease_));
}

void Delivery::nack(std::string_view reason, std::optional<Milliseconds> delay) {
  if (settled()) return;
  wire::Settlement settlement = settlement_of(wire::Verb::nack, lease_);
  if (delay) settlement.delay_ms = internal::checked_delay(*delay);
  const std::string text = internal::clean_reason(reason);
  settlement.reason = text;
  frame_->consumer->settle(*this, settlement);
}

void Delivery::release() {
  if (settled()) return;
  frame_->consumer->settle(*this, settlement_of(wire::Verb::release, lease_));
}

void Delivery::reject(std::string_view reason) {
  if (settled()) return;
  wire::Settlement settlement = settlement_of(wire::Verb::reject, lease_);
  const std::string text = internal::clean_reason(reason);
  settlement.reason = text;
  frame_->consumer->settle(*this, settlement);
}

void Delivery::extend(std::optional<Milliseconds> lease) {
  if (settled()) return;
  if (lease) internal::check_lease(*lease);
  frame_->consumer->extend(*this, lease);
}

}  // namespace sluice
