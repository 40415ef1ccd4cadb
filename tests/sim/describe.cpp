#include "describe.h"

#include <cstring>

namespace sluice::sim {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

template <class... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  const auto add = [&text](const auto& part) {
    if (!text.empty()) text += ' ';
    if constexpr (std::is_convertible_v<decltype(part), std::string_view>) {
      text += part;
    } else {
      text += std::to_string(part);
    }
  };
  (add(parts), ...);
  return text;
}

std::string range(std::uint64_t first, std::uint64_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

std::string value_text(const wire::Value& value);

std::string map_text(const wire::Map& map) {
  std::string text = "{";
  for (const auto& [key, value] : map.entries()) text += (text.size() > 1 ? " " : "") + key + ":" + value_text(value);
  return text + "}";
}

std::string value_text(const wire::Value& value) {
  if (const auto* flag = value.get_if<bool>()) return *flag ? "true" : "false";
  if (const auto* number = value.get_if<std::uint64_t>()) return std::to_string(*number);
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* map = value.get_if<wire::Map>()) return map_text(*map);
  if (const auto* array = value.get_if<wire::Array>()) return "[" + std::to_string(array->size()) + "]";
  return "?";
}

std::string verb_name(wire::Verb verb) {
  switch (verb) {
    case wire::Verb::ack:
      return "ack";
    case wire::Verb::nack:
      return "nack";
    case wire::Verb::release:
      return "release";
    case wire::Verb::reject:
      return "reject";
    case wire::Verb::extend:
      return "extend";
  }
  return "?";
}

std::string publish_text(const wire::Publish& frame) {
  std::string text = join("PUBLISH", frame.kind == wire::PublishKind::topic ? "topic" : "queue", frame.queue,
                          "sequence", frame.first_sequence, "messages");
  for (const wire::PublishMessage& message : frame.messages) {
    text += " #" + std::to_string(serial_of(message.payload));
    if (message.priority != wire::kPriorityDefault) text += "p" + std::to_string(message.priority);
    if (message.delay_ms != 0) text += "+" + std::to_string(message.delay_ms);
    if (message.ttl_ms != 0) text += "!" + std::to_string(message.ttl_ms);
    if (!message.dedup_key.empty()) text += "=" + std::string(message.dedup_key);
  }
  return text;
}

std::string settle_text(const wire::Settle& frame) {
  std::string text = join("SETTLE", frame.request ? std::to_string(*frame.request) : "nil");
  for (const wire::Settlement& each : frame.settlements) {
    text += " " + verb_name(each.verb) + " " + range(each.first_lease, each.last_lease);
    if (each.lease_ms) text += "+" + std::to_string(*each.lease_ms);
  }
  for (const wire::Grant& each : frame.grants) text += join(" grant", each.consumer, each.messages, each.bytes);
  return text;
}

std::string confirm_text(const wire::Confirm& frame) {
  std::string text = join("CONFIRM up_to", frame.up_to);
  for (const wire::Accepted& each : frame.accepted)
    text +=
        " " + range(each.first_sequence, each.first_sequence + each.count - 1) + "=id" + std::to_string(each.first_id);
  for (const wire::Refused& each : frame.refused)
    text += " " + range(each.first_sequence, each.first_sequence + each.count - 1) + "!" + each.error.name;
  return text;
}

std::string deliver_text(const wire::Deliver& frame) {
  std::string text = join("DELIVER consumer", frame.consumer, "lease", frame.first_lease, "for", frame.lease_ms);
  for (const wire::Delivery& each : frame.deliveries) {
    text += " #" + std::to_string(serial_of(each.payload)) + "=id" + std::to_string(each.id) + "x" +
            std::to_string(each.count);
    if (each.attempts != 0) text += "a" + std::to_string(each.attempts);
    if (!each.dead.empty()) text += "dead";
  }
  return text;
}

}  // namespace

std::uint64_t serial_of(std::string_view payload) {
  std::uint64_t serial = 0;
  if (payload.size() >= sizeof serial) std::memcpy(&serial, payload.data(), sizeof serial);
  return serial;
}

std::string describe(const wire::ClientFrame& frame) {
  return std::visit(
      Overloaded{
          [](const wire::Heartbeat&) { return std::string("HEARTBEAT"); },
          [](const wire::Bye&) { return std::string("BYE"); },
          [](const wire::Hello& f) { return join("HELLO", f.client); },
          [](const wire::Publish& f) { return publish_text(f); },
          [](const wire::Consume& f) {
            return join("CONSUME", f.request, "consumer", f.consumer, f.topic.empty() ? f.queue : f.topic, "credit",
                        f.credit_messages, f.credit_bytes);
          },
          [](const wire::Cancel& f) { return join("CANCEL", f.request, "consumer", f.consumer); },
          [](const wire::Settle& f) { return settle_text(f); },
          [](const wire::Request& f) { return join("REQUEST", f.request, f.verb, map_text(f.arguments)); },
      },
      frame);
}

std::string describe(const wire::BrokerFrame& frame) {
  return std::visit(
      Overloaded{
          [](const wire::Heartbeat&) { return std::string("HEARTBEAT"); },
          [](const wire::Bye& f) { return join("BYE", f.code, f.text); },
          [](const wire::ErrorFrame& f) { return join("ERROR", f.error.name, f.error.text); },
          [](const wire::Welcome& f) { return join("WELCOME session", f.session, "producer", f.producer_sequence); },
          [](const wire::Confirm& f) { return confirm_text(f); },
          [](const wire::Reply& f) {
            return join("REPLY", f.request, f.error ? f.error->name + " " + f.error->text : map_text(*f.result));
          },
          [](const wire::Deliver& f) { return deliver_text(f); },
          [](const wire::LeaseLost& f) {
            std::string text = join("LEASE_LOST consumer", f.consumer, "code", f.code);
            for (const wire::LeaseRange& each : f.ranges) text += " " + range(each.first, each.last);
            return text;
          },
          [](const wire::ConsumerClosed& f) { return join("CONSUMER_CLOSED", f.consumer, f.error.name); },
          [](const wire::Settled& f) {
            std::string text = join("SETTLED", f.request ? std::to_string(*f.request) : "nil");
            for (const wire::SettleException& each : f.exceptions)
              text += " " + range(each.first_lease, each.last_lease) + "!" + std::to_string(each.code);
            return text;
          },
          [](const wire::Draining& f) { return join("DRAINING", f.deadline_ms); },
      },
      frame);
}

}  // namespace sluice::sim
