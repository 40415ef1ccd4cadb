#include "cli/message_json.h"

#include "cli/policy.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

void add_bytes(Json& object, const std::string& key, std::string_view bytes) {
  if (is_utf8(bytes)) {
    object[key] = bytes;
  } else {
    object[key + "_base64"] = base64(bytes);
  }
}

struct HeaderToJson {
  Json operator()(const std::string& text) const { return is_utf8(text) ? Json(text) : Json{{"base64", base64(text)}}; }
  Json operator()(const std::vector<std::byte>& bytes) const {
    // Bytes are bytes, also when they happen to be text.
    return {{"base64", base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()})}};
  }
  template <class Number>
  Json operator()(const Number& number) const {
    return number;
  }
};

template <class Value>
void add_if_set(Json& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = *value;
}

}  // namespace

Json json_of(const Headers& headers) {
  Json object = Json::object();
  for (const auto& [key, value] : headers) object[key] = std::visit(HeaderToJson{}, value);
  return object;
}

Json json_of(const DeadLetter& dead) {
  return {{"origin", dead.origin},         {"reason", dead.reason},
          {"error", dead.error},           {"first_published_ms", dead.first_published_ms},
          {"dead_at_ms", dead.dead_at_ms}, {"counters", dead.counters}};
}

Json json_of(const QueueInfo& queue) {
  return {{"name", queue.name},
          {"ready", queue.ready},
          {"delayed", queue.delayed},
          {"leased", queue.leased},
          {"dead", queue.dead},
          {"consumers", queue.consumers},
          {"oldest_age_ms", queue.oldest_age_ms},
          {"bytes", queue.bytes},
          {"paused", queue.paused},
          {"policy", json_of(queue.policy)},
          {"counters", queue.counters}};
}

Json json_of(const MessageInfo& message) {
  Json object = {
      {"id", message.id}, {"position", message.position}, {"state", message.state}, {"priority", message.priority}};
  add_bytes(object, "payload", message.payload);
  object["payload_bytes"] = message.payload_bytes;
  if (!message.headers.empty()) object["headers"] = json_of(message.headers);
  object["published_ms"] = message.published_ms;
  add_if_set(object, "due_ms", message.due_ms);
  add_if_set(object, "expires_ms", message.expires_ms);
  object["deliveries"] = message.deliveries;
  object["nacks"] = message.nacks;
  object["expiries"] = message.expiries;
  object["disconnects"] = message.disconnects;
  object["releases"] = message.releases;
  if (!message.error.empty()) object["error"] = message.error;
  if (message.dead) object["dead"] = json_of(*message.dead);
  return object;
}

Json json_of(const ServerInfo& server) {
  return {{"version", server.version},     {"protocol", server.protocol}, {"session", server.session},
          {"uptime_ms", server.uptime_ms}, {"sync", server.sync},         {"sessions", server.sessions},
          {"consumers", server.consumers}, {"queues", server.queues},     {"ready", server.ready},
          {"delayed", server.delayed},     {"leased", server.leased},     {"memory_bytes", server.memory_bytes},
          {"counters", server.counters}};
}

Json json_of(const Binding& binding) { return {{"queue", binding.queue}, {"pattern", binding.pattern}}; }

Json json_of(const ConsumerInfo& consumer) {
  return {{"queue", consumer.queue},
          {"session", consumer.session},
          {"consumer", consumer.consumer},
          {"held", consumer.held},
          {"credit_messages", consumer.credit_messages},
          {"credit_bytes", consumer.credit_bytes}};
}

Json json_of(const SessionInfo& session) {
  return {{"session", session.session},
          {"client", session.client},
          {"agent", session.agent},
          {"consumers", session.consumers},
          {"connected_ms", session.connected_ms},
          {"idle_ms", session.idle_ms},
          {"outbox_bytes", session.outbox_bytes}};
}

Json json_of(const Delivery& delivery, const Source& source) {
  Json object = {{"id", delivery.id()},
                 {source.unnamed ? "pattern" : "queue", source.name},
                 {"delivery_count", delivery.count()},
                 {"attempts", delivery.attempts()},
                 {"priority", delivery.priority()}};
  const Headers headers = delivery.headers();
  if (!headers.empty()) object["headers"] = json_of(headers);
  add_bytes(object, "payload", delivery.payload());
  if (const std::optional<DeadLetter> dead = delivery.dead()) object["dead"] = json_of(*dead);
  return object;
}

}  // namespace sluice::cli
