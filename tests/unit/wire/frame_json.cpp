#include "frame_json.h"

#include <stdexcept>

#include "vector_file.h"

namespace sluice::wire {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t uint(const Json& json) {
  // nlohmann would turn a negative number or a float into something.
  if (!json.is_number_unsigned()) throw std::runtime_error("not an unsigned integer: " + json.dump());
  return json.get<std::uint64_t>();
}

std::optional<std::uint64_t> uint_or_nil(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(uint(json));
}

bool is_bin(const Json& json) { return json.is_object() && json.size() == 1 && json.contains("bin"); }

Map map(const Json& json);

Value value(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (is_bin(json)) return Bin{from_hex(json.at("bin"))};
  if (json.is_object()) return map(json);
  Array out;
  for (const Json& item : json) out.push_back(value(item));
  return out;
}

Map map(const Json& json) {
  Map out;
  for (const auto& [key, item] : json.items()) out.set(key, value(item));
  return out;
}

ErrorBody error(const Json& json) {
  return {uint(json.at("code")), json.at("name"), json.at("text"), json.at("retry"), uint(json.at("retry_after_ms"))};
}

Hello hello(const Json& json) {
  Hello out;
  out.protocol = uint(json.at("protocol"));
  out.client = json.at("client");
  out.agent = json.at("agent");
  if (!json.at("producer").is_null()) out.producer = from_hex(json.at("producer").at("bin"));
  out.heartbeat_ms = uint_or_nil(json.at("heartbeat_ms"));
  return out;
}

Welcome welcome(const Json& json) {
  Welcome out;
  out.protocol = uint(json.at("protocol"));
  out.session = uint(json.at("session"));
  out.broker = json.at("broker");
  out.heartbeat_ms = uint(json.at("heartbeat_ms"));
  out.publish_messages = uint(json.at("publish_messages"));
  out.publish_bytes = uint(json.at("publish_bytes"));
  out.frame_bytes_max = uint(json.at("frame_bytes_max"));
  out.credit_messages_max = uint(json.at("credit_messages_max"));
  out.credit_bytes_max = uint(json.at("credit_bytes_max"));
  out.sync = json.at("sync");
  out.producer_sequence = uint(json.at("producer_sequence"));
  out.features = json.at("features").get<std::vector<std::string>>();
  return out;
}

Confirm confirm(const Json& json) {
  Confirm out;
  out.up_to = uint(json.at("up_to"));
  for (const Json& item : json.at("accepted")) {
    out.accepted.push_back({uint(item.at("first_sequence")), uint(item.at("first_id")), uint(item.at("count"))});
  }
  for (const Json& item : json.at("refused")) {
    out.refused.push_back({uint(item.at("first_sequence")), uint(item.at("count")), error(item.at("error"))});
  }
  return out;
}

Reply reply(const Json& json) {
  Reply out;
  out.request = uint(json.at("request"));
  if (!json.at("result").is_null()) out.result = map(json.at("result"));
  if (!json.at("error").is_null()) out.error = error(json.at("error"));
  return out;
}

LeaseLost lease_lost(const Json& json) {
  LeaseLost out;
  out.consumer = uint(json.at("consumer"));
  for (const Json& item : json.at("ranges")) {
    out.ranges.push_back({uint(item.at("first_lease")), uint(item.at("last_lease"))});
  }
  out.code = uint(json.at("code"));
  return out;
}

Settled settled(const Json& json) {
  Settled out;
  out.request = uint_or_nil(json.at("request"));
  for (const Json& item : json.at("exceptions")) {
    out.exceptions.push_back({uint(item.at("first_lease")), uint(item.at("last_lease")), uint(item.at("code"))});
  }
  return out;
}

Bye bye(const Json& json) { return {uint(json.at("code")), json.at("text")}; }

}  // namespace

std::string_view FrameJson::keep(std::string bytes) { return kept_.emplace_back(std::move(bytes)); }

std::string_view FrameJson::bin(const Json& json) {
  return json.is_null() ? std::string_view() : keep(from_hex(json.at("bin")));
}

Publish FrameJson::publish(const Json& json) {
  Publish out;
  out.queue = keep(json.at("queue"));
  out.first_sequence = uint(json.at("first_sequence"));
  for (const Json& item : json.at("messages")) {
    PublishMessage& message = out.messages.emplace_back();
    message.payload = bin(item.at("payload"));
    message.headers = bin(item.at("headers"));
    message.priority = static_cast<std::uint8_t>(uint(item.at("priority")));
    message.delay_ms = uint(item.at("delay_ms"));
    if (item.contains("ttl_ms")) message.ttl_ms = uint(item.at("ttl_ms"));
    if (item.contains("dedup_key")) message.dedup_key = keep(item.at("dedup_key"));
  }
  out.kind = static_cast<PublishKind>(uint(json.at("kind")));
  return out;
}

Settle FrameJson::settle(const Json& json) {
  Settle out;
  out.request = uint_or_nil(json.at("request"));
  for (const Json& item : json.at("settlements")) {
    Settlement& settlement = out.settlements.emplace_back();
    settlement.verb = static_cast<Verb>(uint(item.at("verb")));
    settlement.first_lease = uint(item.at("first_lease"));
    settlement.last_lease = uint(item.at("last_lease"));
    settlement.reason = keep(item.at("reason"));
    settlement.delay_ms = uint_or_nil(item.at("delay_ms"));
    settlement.lease_ms = uint_or_nil(item.at("lease_ms"));
  }
  for (const Json& item : json.at("grants")) {
    out.grants.push_back({uint(item.at("consumer")), uint(item.at("messages")), uint(item.at("bytes"))});
  }
  return out;
}

Deliver FrameJson::deliver(const Json& json) {
  Deliver out;
  out.consumer = uint(json.at("consumer"));
  out.first_lease = uint(json.at("first_lease"));
  out.lease_ms = uint(json.at("lease_ms"));
  for (const Json& item : json.at("deliveries")) {
    Delivery& delivery = out.deliveries.emplace_back();
    delivery.id = uint(item.at("id"));
    delivery.count = uint(item.at("count"));
    delivery.payload = bin(item.at("payload"));
    delivery.headers = bin(item.at("headers"));
    delivery.priority = static_cast<std::uint8_t>(uint(item.at("priority")));
    delivery.attempts = uint(item.at("attempts"));
    delivery.dead = bin(item.at("dead"));
  }
  return out;
}

ClientFrame FrameJson::client_frame(const Json& json) {
  const std::string type = json.at("type");
  if (type == "HEARTBEAT") return Heartbeat{};
  if (type == "BYE") return bye(json);
  if (type == "HELLO") return hello(json);
  if (type == "PUBLISH") return publish(json);
  if (type == "SETTLE") return settle(json);
  if (type == "CANCEL") return Cancel{uint(json.at("request")), uint(json.at("consumer"))};
  if (type == "REQUEST") return Request{uint(json.at("request")), json.at("verb"), map(json.at("arguments"))};
  if (type == "CONSUME") {
    Consume out{uint(json.at("request")),
                uint(json.at("consumer")),
                keep(json.at("queue")),
                uint(json.at("credit_messages")),
                uint(json.at("credit_bytes")),
                {},
                {}};
    if (json.contains("topic")) out.topic = keep(json.at("topic"));
    if (json.contains("policy")) out.policy = map(json.at("policy"));
    return out;
  }
  throw std::runtime_error("no frame to the broker: " + type);
}

BrokerFrame FrameJson::broker_frame(const Json& json) {
  const std::string type = json.at("type");
  if (type == "HEARTBEAT") return Heartbeat{};
  if (type == "BYE") return bye(json);
  if (type == "ERROR") return ErrorFrame{error(json.at("error")), uint_or_nil(json.at("request"))};
  if (type == "WELCOME") return welcome(json);
  if (type == "CONFIRM") return confirm(json);
  if (type == "REPLY") return reply(json);
  if (type == "DELIVER") return deliver(json);
  if (type == "LEASE_LOST") return lease_lost(json);
  if (type == "CONSUMER_CLOSED") return ConsumerClosed{uint(json.at("consumer")), error(json.at("error"))};
  if (type == "SETTLED") return settled(json);
  if (type == "DRAINING") return Draining{uint(json.at("deadline_ms"))};
  throw std::runtime_error("no frame to the client: " + type);
}

}  // namespace sluice::wire
