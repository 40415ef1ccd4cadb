#include "cli/record_json.h"

#include <algorithm>

#include "cli/text.h"
#include "wire/codec.h"

namespace sluice::cli {
namespace {

void add_text(Json& object, const std::string& key, std::string_view text) {
  if (is_utf8(text)) {
    object[key] = text;
  } else {
    object[key + "_base64"] = base64(text);
  }
}

// What a terminal shows as it is: also lines and tabs.
bool is_printable(std::string_view text) {
  return is_utf8(text) && std::ranges::none_of(text, [](char c) {
           return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
         });
}

Json json_of(const wire::Map& map);

struct ValueToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(const wire::Bin& bin) const { return {{"base64", base64(bin.bytes)}}; }
  Json operator()(const wire::Array& array) const {
    Json out = Json::array();
    for (const wire::Value& value : array) out.push_back(std::visit(*this, value.storage()));
    return out;
  }
  Json operator()(const wire::Map& map) const { return json_of(map); }
  template <class Plain>
  Json operator()(const Plain& plain) const {
    return plain;
  }
};

Json json_of(const wire::Map& map) {
  Json out = Json::object();
  for (const auto& [key, value] : map.entries()) out[key] = std::visit(ValueToJson{}, value.storage());
  return out;
}

void add_body(Json& object, const record::Body& body) {
  if (const auto map = wire::decode_map(body.headers)) object["headers"] = json_of(*map);
  object["headers_base64"] = base64(body.headers);
  if (is_printable(body.payload)) object["payload"] = body.payload;
  object["payload_base64"] = base64(body.payload);
}

void add_counts(Json& object, const record::Counts& counts) {
  object["deliveries"] = counts.deliveries;
  object["nacks"] = counts.nacks;
  object["expiries"] = counts.expiries;
  object["disconnects"] = counts.disconnects;
  object["releases"] = counts.releases;
  object["restarts"] = counts.restarts;
}

Json json_of(const record::Policy& policy) {
  return {{"lease_ms", policy.lease_ms},
          {"max_attempts", policy.max_attempts},
          {"backoff_initial_ms", policy.backoff_initial_ms},
          {"backoff_factor", policy.backoff_factor},
          {"backoff_max_ms", policy.backoff_max_ms},
          {"backoff_jitter", policy.backoff_jitter},
          {"max_messages", policy.max_messages},
          {"max_bytes", policy.max_bytes},
          {"overflow", name(policy.overflow)},
          {"block_timeout_ms", policy.block_timeout_ms},
          {"ttl_ms", policy.ttl_ms},
          {"on_expiry", name(policy.on_expiry)},
          {"dedup_window_ms", policy.dedup_window_ms},
          {"dead_letter_max", policy.dead_letter_max}};
}

// Those of a later version by their place.
Json json_of_counters(const std::vector<std::uint64_t>& counters) {
  const auto names = record::counter_names();
  Json out = Json::object();
  for (std::size_t i = 0; i < counters.size(); ++i)
    out[i < names.size() ? std::string(names[i]) : "counter_" + std::to_string(i + 1)] = counters[i];
  return out;
}

Json json_of(const record::Copy& copy) {
  Json out = {{"queue", copy.queue},       {"key", copy.key},       {"position", copy.position},
              {"state", name(copy.state)}, {"due_ms", copy.due_ms}, {"expires_ms", copy.expires_ms},
              {"suspect", copy.suspect},   {"new", copy.fresh}};
  add_counts(out, copy.counts);
  add_text(out, "error", copy.error);
  if (!copy.death) return out;
  Json dead = {{"reason", name(copy.death->reason)}};
  add_text(dead, "origin", copy.death->origin);
  dead["at_ms"] = copy.death->at_ms;
  add_counts(dead, copy.death->counts);
  out["dead"] = std::move(dead);
  return out;
}

Json json_of(const record::AcceptedRange& range) {
  return {{"first_sequence", range.first_sequence}, {"first_id", range.first_id}, {"count", range.count}};
}

void add_range(Json& object, const record::RefusedRange& range) {
  object["first_sequence"] = range.first_sequence;
  object["count"] = range.count;
  object["error"] = range.error;
  add_text(object, "text", range.text);
}

// Adds the fields to an object that has the type.
struct AddFields {
  Json& out;

  void operator()(const record::Marks& marks) const {
    out["next_id"] = marks.next_id;
    out["next_key"] = marks.next_key;
    out["next_lease"] = marks.next_lease;
    out["next_queue"] = marks.next_queue;
    out["next_producer"] = marks.next_producer;
  }
  void operator()(const record::Queue& queue) const {
    out["queue"] = queue.queue;
    add_text(out, "name", queue.name);
    out["paused"] = queue.paused;
    out["temporary"] = queue.temporary;
    out["durable"] = queue.durable;
    out["policy"] = json_of(queue.policy);
    out["counters"] = json_of_counters(queue.counters);
  }
  void operator()(const record::QueueDeleted& deleted) const { out["queue"] = deleted.queue; }
  void operator()(const record::Bound& bound) const {
    out["queue"] = bound.queue;
    add_text(out, "pattern", bound.pattern);
  }
  void operator()(const record::Unbound& unbound) const {
    out["queue"] = unbound.queue;
    add_text(out, "pattern", unbound.pattern);
  }
  void operator()(const record::Published& run) const {
    out["queue"] = run.queue;
    out["published_ms"] = run.published_ms;
    out["producer"] = run.producer;
    Json messages = Json::array();
    for (const record::PublishedMessage& message : run.messages) {
      const std::size_t i = messages.size();
      Json item = {{"key", run.first_key + i}, {"id", run.first_id + i}};
      if (run.producer != 0) item["sequence"] = run.first_sequence + i;
      item["priority"] = message.priority;
      item["due_ms"] = message.due_ms;
      item["expires_ms"] = message.expires_ms;
      add_text(item, "dedup_key", message.dedup_key);
      add_body(item, message.body);
      messages.push_back(std::move(item));
    }
    out["messages"] = std::move(messages);
  }
  void operator()(const record::Message& message) const {
    out["id"] = message.id;
    out["published_ms"] = message.published_ms;
    out["priority"] = message.priority;
    out["producer"] = message.producer;
    out["sequence"] = message.sequence;
    add_text(out, "topic", message.topic);
    add_text(out, "dedup_key", message.dedup_key);
    add_body(out, message.body);
    Json copies = Json::array();
    for (const record::Copy& copy : message.copies) copies.push_back(json_of(copy));
    out["copies"] = std::move(copies);
  }
  void operator()(const record::Delivered& delivered) const {
    out["first_key"] = delivered.first_key;
    out["first_lease"] = delivered.first_lease;
    out["count"] = delivered.count;
  }
  void operator()(const record::Ended& ended) const {
    out["how"] = name(ended.how);
    out["first_key"] = ended.first_key;
    out["count"] = ended.count;
  }
  void operator()(const record::Returned& returned) const {
    out["key"] = returned.key;
    out["cause"] = name(returned.cause);
    out["suspect"] = returned.suspect;
    out["due_ms"] = returned.due_ms;
    add_text(out, "error", returned.error);
  }
  void operator()(const record::DeadLettered& dead) const {
    out["key"] = dead.key;
    out["cause"] = name(dead.cause);
    out["queue"] = dead.queue;
    out["position"] = dead.position;
    out["reason"] = name(dead.reason);
    add_text(out, "origin", dead.origin);
    out["at_ms"] = dead.at_ms;
    add_text(out, "error", dead.error);
  }
  void operator()(const record::Replayed& replayed) const {
    out["key"] = replayed.key;
    out["queue"] = replayed.queue;
    out["position"] = replayed.position;
  }
  void operator()(const record::Producer& producer) const {
    out["producer"] = producer.producer;
    add_text(out, "name", producer.name);
    out["last_sequence"] = producer.last_sequence;
    Json accepted = Json::array();
    for (const record::AcceptedRange& range : producer.accepted) accepted.push_back(json_of(range));
    out["accepted"] = std::move(accepted);
    Json refused = Json::array();
    for (const record::RefusedRange& range : producer.refused) add_range(refused.emplace_back(Json::object()), range);
    out["refused"] = std::move(refused);
  }
  void operator()(const record::Refused& refused) const {
    out["producer"] = refused.producer;
    add_range(out, refused.range);
  }
  void operator()(const record::ProducerGone& gone) const { out["producer"] = gone.producer; }
  void operator()(const record::DedupKey& key) const {
    out["queue"] = key.queue;
    add_text(out, "key", key.key);
    out["id"] = key.id;
    out["at_ms"] = key.at_ms;
  }
  void operator()(const record::Opened& opened) const { out["at_ms"] = opened.at_ms; }
  void operator()(const record::Closed& closed) const { out["at_ms"] = closed.at_ms; }
  void operator()(const record::Accepted& accepted) const {
    out["producer"] = accepted.producer;
    out.update(json_of(accepted.range));
  }
};

}  // namespace

Json json_of(const record::Record& record) {
  Json out = {{"type", name(type_of(record))}};
  std::visit(AddFields{out}, record);
  return out;
}

}  // namespace sluice::cli
