#include "convert.h"

#include "headers.h"
#include "wire/codec.h"

namespace sluice::internal {
namespace {

std::optional<std::uint64_t> find_uint(const wire::Map& map, std::string_view key) {
  const wire::Value* const value = map.find(key);
  const auto* const number = value == nullptr ? nullptr : value->get_if<std::uint64_t>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<double> find_double(const wire::Map& map, std::string_view key) {
  if (const auto whole = find_uint(map, key)) return static_cast<double>(*whole);
  const wire::Value* const value = map.find(key);
  const auto* const number = value == nullptr ? nullptr : value->get_if<double>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// Text or bytes.
std::string to_string(const wire::Map& map, std::string_view key) {
  const wire::Value* const value = map.find(key);
  if (value == nullptr) return {};
  if (const auto* const text = value->get_if<std::string>()) return *text;
  if (const auto* const bin = value->get_if<wire::Bin>()) return bin->bytes;
  return {};
}

std::optional<std::string> find_text(const wire::Map& map, std::string_view key) {
  const wire::Value* const value = map.find(key);
  const auto* const text = value == nullptr ? nullptr : value->get_if<std::string>();
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::map<std::string, std::uint64_t> to_counters(const wire::Map& map) {
  std::map<std::string, std::uint64_t> counters;
  for (const auto& [key, value] : map.entries()) {
    if (const auto* const number = value.get_if<std::uint64_t>()) counters.emplace(key, *number);
  }
  return counters;
}

template <class T, class Convert>
std::vector<T> to_list(const wire::Map& map, std::string_view key, Convert convert) {
  std::vector<T> list;
  const wire::Value* const value = map.find(key);
  const auto* const array = value == nullptr ? nullptr : value->get_if<wire::Array>();
  if (array == nullptr) return list;
  list.reserve(array->size());
  for (const wire::Value& item : *array) {
    if (const auto* const entry = item.get_if<wire::Map>()) list.push_back(convert(*entry));
  }
  return list;
}

QueuePolicy to_policy(const wire::Map& map) {
  QueuePolicy policy;
  policy.lease_ms = find_uint(map, "lease_ms");
  policy.max_attempts = find_uint(map, "max_attempts");
  policy.backoff = {find_uint(map, "backoff_initial_ms"), find_double(map, "backoff_factor"),
                    find_uint(map, "backoff_max_ms"), find_double(map, "backoff_jitter")};
  policy.max_messages = find_uint(map, "max_messages");
  policy.max_bytes = find_uint(map, "max_bytes");
  policy.dead_letter_max = find_uint(map, "dead_letter_max");
  policy.overflow = find_text(map, "overflow");
  policy.block_timeout_ms = find_uint(map, "block_timeout_ms");
  policy.ttl_ms = find_uint(map, "ttl_ms");
  policy.on_expiry = find_text(map, "on_expiry");
  policy.dedup_window_ms = find_uint(map, "dedup_window_ms");
  policy.durable = to_bool(map, "durable");
  return policy;
}

// `dead` of a message: a map, or the same map encoded.
std::optional<DeadLetter> to_dead(const wire::Map& map) {
  const wire::Value* const value = map.find("dead");
  if (value == nullptr) return std::nullopt;
  if (const auto* const dead = value->get_if<wire::Map>()) return to_dead_letter(*dead);
  const auto* const bin = value->get_if<wire::Bin>();
  if (bin == nullptr || bin->bytes.empty()) return std::nullopt;
  const auto decoded = wire::decode_map(bin->bytes);
  return decoded ? std::optional(to_dead_letter(*decoded)) : std::nullopt;
}

MessageInfo to_message(const wire::Map& map) {
  MessageInfo message;
  message.id = to_uint(map, "id");
  message.position = to_uint(map, "position");
  message.state = to_string(map, "state");
  message.payload = to_string(map, "payload");
  message.payload_bytes = find_uint(map, "payload_bytes").value_or(message.payload.size());
  message.encoded_headers = to_string(map, "headers");
  message.headers = decode_headers(message.encoded_headers);
  message.priority = static_cast<int>(find_uint(map, "priority").value_or(wire::kPriorityDefault));
  message.published_ms = to_uint(map, "published_ms");
  message.due_ms = find_uint(map, "due_ms");
  message.deliveries = to_uint(map, "deliveries");
  message.nacks = to_uint(map, "nacks");
  message.expiries = to_uint(map, "expiries");
  message.disconnects = to_uint(map, "disconnects");
  message.releases = to_uint(map, "releases");
  message.error = to_string(map, "error");
  message.dead = to_dead(map);
  message.expires_ms = find_uint(map, "expires_ms");
  return message;
}

Binding to_binding(const wire::Map& map) { return {to_string(map, "queue"), to_string(map, "pattern")}; }

ConsumerInfo to_consumer(const wire::Map& map) {
  ConsumerInfo consumer;
  consumer.queue = to_string(map, "queue");
  consumer.session = to_uint(map, "session");
  consumer.consumer = to_uint(map, "consumer");
  consumer.held = to_uint(map, "held");
  consumer.credit_messages = to_uint(map, "credit_messages");
  consumer.credit_bytes = to_uint(map, "credit_bytes");
  return consumer;
}

SessionInfo to_session(const wire::Map& map) {
  SessionInfo session;
  session.session = to_uint(map, "session");
  session.client = to_string(map, "client");
  session.agent = to_string(map, "agent");
  session.consumers = to_uint(map, "consumers");
  session.connected_ms = to_uint(map, "connected_ms");
  session.idle_ms = to_uint(map, "idle_ms");
  session.outbox_bytes = to_uint(map, "outbox_bytes");
  return session;
}

template <class T>
void set_if(wire::Map& map, const char* key, const std::optional<T>& value) {
  if (value) map.set(key, *value);
}

}  // namespace

std::uint64_t to_uint(const wire::Map& map, std::string_view key) { return find_uint(map, key).value_or(0); }

bool to_bool(const wire::Map& map, std::string_view key) {
  const wire::Value* const value = map.find(key);
  const auto* const flag = value == nullptr ? nullptr : value->get_if<bool>();
  return flag != nullptr && *flag;
}

const wire::Map& to_map(const wire::Map& map, std::string_view key) {
  static const wire::Map kEmpty;
  const wire::Value* const value = map.find(key);
  const auto* const found = value == nullptr ? nullptr : value->get_if<wire::Map>();
  return found == nullptr ? kEmpty : *found;
}

wire::Map to_wire(const QueuePolicy& policy) {
  wire::Map map;
  set_if(map, "lease_ms", policy.lease_ms);
  set_if(map, "max_attempts", policy.max_attempts);
  set_if(map, "backoff_initial_ms", policy.backoff.initial_ms);
  set_if(map, "backoff_factor", policy.backoff.factor);
  set_if(map, "backoff_max_ms", policy.backoff.max_ms);
  set_if(map, "backoff_jitter", policy.backoff.jitter);
  set_if(map, "max_messages", policy.max_messages);
  set_if(map, "max_bytes", policy.max_bytes);
  set_if(map, "dead_letter_max", policy.dead_letter_max);
  set_if(map, "overflow", policy.overflow);
  set_if(map, "block_timeout_ms", policy.block_timeout_ms);
  set_if(map, "ttl_ms", policy.ttl_ms);
  set_if(map, "on_expiry", policy.on_expiry);
  set_if(map, "dedup_window_ms", policy.dedup_window_ms);
  set_if(map, "durable", policy.durable);
  return map;
}

wire::Map to_wire(std::string_view dead_letter_queue, const ReplayOptions& options) {
  wire::Map map;
  map.set("name", dead_letter_queue);
  if (!options.to.empty()) map.set("to", options.to);
  if (!options.ids.empty()) map.set("ids", wire::Array(options.ids.begin(), options.ids.end()));
  if (!options.reason.empty()) map.set("reason", options.reason);
  if (options.limit != 0) map.set("limit", options.limit);
  if (options.dry_run) map.set("dry_run", true);
  return map;
}

QueueInfo to_queue_info(const wire::Map& map) {
  QueueInfo info;
  info.name = to_string(map, "name");
  info.ready = to_uint(map, "ready");
  info.delayed = to_uint(map, "delayed");
  info.leased = to_uint(map, "leased");
  info.dead = to_uint(map, "dead");
  info.consumers = to_uint(map, "consumers");
  info.oldest_age_ms = to_uint(map, "oldest_age_ms");
  info.bytes = to_uint(map, "bytes");
  info.policy = to_policy(to_map(map, "policy"));
  info.paused = to_bool(map, "paused");
  info.counters = to_counters(to_map(map, "counters"));
  return info;
}

QueueList to_queue_list(const wire::Map& map) {
  return {to_list<QueueInfo>(map, "queues", to_queue_info), to_bool(map, "more")};
}

MessageList to_message_list(const wire::Map& map) {
  return {to_list<MessageInfo>(map, "messages", to_message), to_bool(map, "more")};
}

BindingList to_binding_list(const wire::Map& map) {
  return {to_list<Binding>(map, "bindings", to_binding), to_bool(map, "more")};
}

ConsumerList to_consumer_list(const wire::Map& map) {
  return {to_list<ConsumerInfo>(map, "consumers", to_consumer), to_bool(map, "more")};
}

SessionList to_session_list(const wire::Map& map) {
  return {to_list<SessionInfo>(map, "sessions", to_session), to_bool(map, "more")};
}

ServerInfo to_server_info(const wire::Map& map) {
  ServerInfo info;
  info.version = to_string(map, "version");
  info.sync = to_string(map, "sync");
  info.protocol = to_uint(map, "protocol");
  info.session = to_uint(map, "session");
  info.uptime_ms = to_uint(map, "uptime_ms");
  info.sessions = to_uint(map, "sessions");
  info.consumers = to_uint(map, "consumers");
  info.queues = to_uint(map, "queues");
  info.ready = to_uint(map, "ready");
  info.delayed = to_uint(map, "delayed");
  info.leased = to_uint(map, "leased");
  info.memory_bytes = to_uint(map, "memory_bytes");
  info.counters = to_counters(to_map(map, "counters"));
  return info;
}

DeadLetter to_dead_letter(const wire::Map& map) {
  DeadLetter dead;
  dead.origin = to_string(map, "origin");
  dead.reason = to_string(map, "reason");
  dead.error = to_string(map, "error");
  dead.first_published_ms = to_uint(map, "first_published_ms");
  dead.dead_at_ms = to_uint(map, "dead_at_ms");
  for (const char* const key : {"deliveries", "nacks", "expiries", "disconnects", "releases"}) {
    if (const auto count = find_uint(map, key)) dead.counters.emplace(key, *count);
  }
  return dead;
}

}  // namespace sluice::internal
