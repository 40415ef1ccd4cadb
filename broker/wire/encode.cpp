// wire/encode.cpp: frames as bytes: shortest formats, defaults at the end left out, keys in the order of the spec.
//
// Source   spec/protocol.md sections 3 and 4.

#include <algorithm>
#include <bit>

#include "wire/codec.h"
#include "wire/pack.h"

namespace sluice::wire {
namespace {

void pack(Pack& to, const Heartbeat&) { to.array(1).type(FrameType::heartbeat); }

void pack(Pack& to, const Bye& frame) {
  const bool text = !frame.text.empty();
  const bool code = text || frame.code != 0;
  to.array(1U + code + text).type(FrameType::bye);
  if (code) to.uint(frame.code);
  if (text) to.text(frame.text);
}

void pack(Pack& to, const Hello& frame) {
  const std::size_t options = std::size_t{!frame.client.empty()} + !frame.agent.empty() + !frame.producer.empty() +
                              frame.heartbeat_ms.has_value();
  to.array(2U + (options > 0)).type(FrameType::hello).uint(frame.protocol);
  if (options == 0) return;
  to.map(options);
  if (!frame.client.empty()) to.text("client").text(frame.client);
  if (!frame.agent.empty()) to.text("agent").text(frame.agent);
  if (!frame.producer.empty()) to.text("producer").bin(frame.producer);
  if (frame.heartbeat_ms) to.text("heartbeat_ms").uint(*frame.heartbeat_ms);
}

void pack(Pack& to, const Publish& frame) {
  const bool kind = frame.kind != PublishKind::queue;
  to.array(4U + kind).type(FrameType::publish).text(frame.queue).uint(frame.first_sequence);
  to.array(frame.messages.size());
  for (const PublishMessage& message : frame.messages) pack_message(to, message);
  if (kind) to.uint(static_cast<std::uint64_t>(frame.kind));
}

void pack(Pack& to, const Consume& frame) {
  const std::size_t options = std::size_t{!frame.topic.empty()} + !frame.policy.empty();
  to.array(6U + (options > 0)).type(FrameType::consume).uint(frame.request).uint(frame.consumer).text(frame.queue);
  to.uint(frame.credit_messages).uint(frame.credit_bytes);
  if (options == 0) return;
  to.map(options);
  if (!frame.topic.empty()) to.text("topic").text(frame.topic);
  if (!frame.policy.empty()) to.text("policy").map(frame.policy);
}

void pack(Pack& to, const Cancel& frame) {
  to.array(3).type(FrameType::cancel).uint(frame.request).uint(frame.consumer);
}

void pack(Pack& to, const Settlement& settlement) {
  const std::size_t options =
      std::size_t{!settlement.reason.empty()} + settlement.delay_ms.has_value() + settlement.lease_ms.has_value();
  to.array(3U + (options > 0)).uint(static_cast<std::uint64_t>(settlement.verb));
  to.uint(settlement.first_lease).uint(settlement.last_lease);
  if (options == 0) return;
  to.map(options);
  if (!settlement.reason.empty()) to.text("reason").text(settlement.reason);
  if (settlement.delay_ms) to.text("delay_ms").uint(*settlement.delay_ms);
  if (settlement.lease_ms) to.text("lease_ms").uint(*settlement.lease_ms);
}

void pack(Pack& to, const Settle& frame) {
  const bool grants = !frame.grants.empty();
  const bool settlements = grants || !frame.settlements.empty();
  to.array(2U + settlements + grants).type(FrameType::settle).uint_or_nil(frame.request);
  if (settlements) to.array(frame.settlements.size());
  for (const Settlement& settlement : frame.settlements) pack(to, settlement);
  if (grants) to.array(frame.grants.size());
  for (const Grant& grant : frame.grants) to.array(3).uint(grant.consumer).uint(grant.messages).uint(grant.bytes);
}

void pack(Pack& to, const Request& frame) {
  const bool arguments = !frame.arguments.empty();
  to.array(3U + arguments).type(FrameType::request).uint(frame.request).text(frame.verb);
  if (arguments) to.map(frame.arguments);
}

void pack(Pack& to, const ErrorBody& error) {
  const bool retry_after = error.retry_after_ms != 0;
  to.array(4U + retry_after).uint(error.code).text(error.name).text(error.text).boolean(error.retry);
  if (retry_after) to.uint(error.retry_after_ms);
}

void pack(Pack& to, const ErrorFrame& frame) {
  to.array(2U + frame.request.has_value()).type(FrameType::error);
  pack(to, frame.error);
  if (frame.request) to.uint(*frame.request);
}

void pack(Pack& to, const Welcome& frame) {
  to.array(4).type(FrameType::welcome).uint(frame.protocol).uint(frame.session);
  to.map(10).text("broker").text(frame.broker).text("heartbeat_ms").uint(frame.heartbeat_ms);
  to.text("publish_messages").uint(frame.publish_messages).text("publish_bytes").uint(frame.publish_bytes);
  to.text("frame_bytes_max").uint(frame.frame_bytes_max);
  to.text("credit_messages_max").uint(frame.credit_messages_max);
  to.text("credit_bytes_max").uint(frame.credit_bytes_max);
  to.text("sync").text(frame.sync).text("producer_sequence").uint(frame.producer_sequence);
  to.text("features").array(frame.features.size());
  for (const std::string& feature : frame.features) to.text(feature);
}

void pack(Pack& to, const Confirm& frame) {
  const bool refused = !frame.refused.empty();
  to.array(3U + refused).type(FrameType::confirm).uint(frame.up_to).array(frame.accepted.size());
  for (const Accepted& accepted : frame.accepted) {
    to.array(3).uint(accepted.first_sequence).uint(accepted.first_id).uint(accepted.count);
  }
  if (!refused) return;
  to.array(frame.refused.size());
  for (const Refused& item : frame.refused) {
    to.array(3).uint(item.first_sequence).uint(item.count);
    pack(to, item.error);
  }
}

void pack(Pack& to, const Reply& frame) {
  SLUICE_CHECK(frame.result.has_value() != frame.error.has_value());
  to.array(3U + frame.error.has_value()).type(FrameType::reply).uint(frame.request);
  if (frame.result) {
    to.map(*frame.result);
  } else {
    pack(to.nil(), *frame.error);
  }
}

void pack(Pack& to, const Deliver& frame) {
  to.array(5).type(FrameType::deliver).uint(frame.consumer).uint(frame.first_lease).uint(frame.lease_ms);
  to.array(frame.deliveries.size());
  for (const Delivery& delivery : frame.deliveries) pack_delivery(to, delivery);
}

void pack(Pack& to, const LeaseLost& frame) {
  to.array(4).type(FrameType::lease_lost).uint(frame.consumer).array(frame.ranges.size());
  for (const LeaseRange& range : frame.ranges) to.array(2).uint(range.first).uint(range.last);
  to.uint(frame.code);
}

void pack(Pack& to, const ConsumerClosed& frame) {
  to.array(3).type(FrameType::consumer_closed).uint(frame.consumer);
  pack(to, frame.error);
}

void pack(Pack& to, const Settled& frame) {
  to.array(3).type(FrameType::settled).uint_or_nil(frame.request).array(frame.exceptions.size());
  for (const SettleException& item : frame.exceptions) {
    to.array(3).uint(item.first_lease).uint(item.last_lease).uint(item.code);
  }
}

void pack(Pack& to, const Draining& frame) { to.array(2).type(FrameType::draining).uint(frame.deadline_ms); }

}  // namespace

void pack_message(Pack& to, const PublishMessage& message) {
  const bool priority = message.priority != kPriorityDefault;
  const std::size_t options = std::size_t{!message.headers.empty()} + priority + (message.delay_ms != 0) +
                              (message.ttl_ms != 0) + !message.dedup_key.empty();
  if (options == 0) {
    to.bin(message.payload);
    return;
  }
  to.array(2).bin(message.payload).map(options);
  if (!message.headers.empty()) to.text("headers").bin(message.headers);
  if (priority) to.text("priority").uint(message.priority);
  if (message.delay_ms != 0) to.text("delay_ms").uint(message.delay_ms);
  if (message.ttl_ms != 0) to.text("ttl_ms").uint(message.ttl_ms);
  if (!message.dedup_key.empty()) to.text("dedup_key").text(message.dedup_key);
}

void pack_delivery(Pack& to, const Delivery& delivery) {
  const bool priority = delivery.priority != kPriorityDefault;
  const std::size_t options =
      std::size_t{!delivery.headers.empty()} + priority + (delivery.attempts != 0) + !delivery.dead.empty();
  to.array(3U + (options > 0)).uint(delivery.id).uint(delivery.count).bin(delivery.payload);
  if (options == 0) return;
  to.map(options);
  if (!delivery.headers.empty()) to.text("headers").bin(delivery.headers);
  if (priority) to.text("priority").uint(delivery.priority);
  if (delivery.attempts != 0) to.text("attempts").uint(delivery.attempts);
  if (!delivery.dead.empty()) to.text("dead").bin(delivery.dead);
}

// Not packer's pack_double: it writes 2.0 as the integer 2, and a value must come back as the type that it was.
Pack& Pack::real(double v) {
  char bytes[9] = {'\xcb'};
  const auto bits = std::bit_cast<std::uint64_t>(v);
  for (unsigned i = 0; i < 8; ++i) bytes[1 + i] = static_cast<char>(bits >> (56 - 8 * i) & 0xff);
  out_.write(bytes, sizeof bytes);
  return *this;
}

Pack& Pack::value(const Value& v) {
  struct Visitor {
    Pack& to;
    void operator()(std::monostate) const { to.nil(); }
    void operator()(bool held) const { to.boolean(held); }
    void operator()(std::uint64_t held) const { to.uint(held); }
    void operator()(std::int64_t held) const { to.negative(held); }
    void operator()(double held) const { to.real(held); }
    void operator()(const std::string& held) const { to.text(held); }
    void operator()(const Bin& held) const { to.bin(held.bytes); }
    void operator()(const Map& held) const { to.map(held); }
    void operator()(const Array& held) const {
      to.array(held.size());
      for (const Value& item : held) to.value(item);
    }
  };
  std::visit(Visitor{*this}, v.storage());
  return *this;
}

Pack& Pack::map(const Map& v) {
  map(v.size());
  for (const auto& [key, held] : v.entries()) text(key).value(held);
  return *this;
}

void encode(const ClientFrame& frame, Buffer& out) {
  Pack to(out);
  std::visit([&to](const auto& held) { pack(to, held); }, frame);
}

void encode(const BrokerFrame& frame, Buffer& out) {
  Pack to(out);
  std::visit([&to](const auto& held) { pack(to, held); }, frame);
}

void encode(const Map& map, Buffer& out) { Pack(out).map(map); }

}  // namespace sluice::wire
