#include "told.h"

#include <type_traits>
#include <variant>

namespace sluice::model {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string text(const Confirmed& confirmed) {
  std::string out = "up to " + number(confirmed.up_to) + ":";
  for (const auto& [sequence, answer] : confirmed.answers)
    out += " " + number(sequence) +
           (answer.code == 0 ? " as id " + number(answer.id) : " refused " + number(answer.code)) + ";";
  return out;
}

std::string text(const Handed& handed) {
  std::string out;
  for (const Delivered& message : handed.messages)
    out += " id " + number(message.id) + " at " + number(message.position) + " count " + number(message.count) +
           " prio " + number(message.priority) + " attempts " + number(message.attempts) + " \"" + message.payload +
           "\"" + (message.dead.empty() ? "" : " dead " + shown(message.dead)) + ";";
  return out;
}

std::string text(const SettledFrame& frame) {
  std::string out =
      "session " + number(frame.session) + (frame.request ? " request " + number(*frame.request) : "") + ":";
  for (const auto& [lease, code] : frame.exceptions) out += " lease " + number(lease) + " code " + number(code) + ";";
  return out;
}

std::string text(const Replied& reply) {
  return "session " + number(reply.session) + " request " + number(reply.request) +
         (reply.code == 0 ? " " + shown(reply.result) : " error " + number(reply.code));
}

template <class... Numbers>
std::string text(const std::tuple<Numbers...>& numbers) {
  return std::apply([](const auto&... value) { return ((number(value) + " ") + ...); }, numbers);
}
std::string text(const std::pair<std::uint64_t, std::uint64_t>& pair) {
  return number(pair.first) + " code " + number(pair.second);
}

bool equal(const Handed& a, const Handed& b) {
  if (a.lease_ms != b.lease_ms || a.messages.size() != b.messages.size()) return false;
  for (std::size_t i = 0; i < a.messages.size(); ++i) {
    const Delivered& x = a.messages[i];
    const Delivered& y = b.messages[i];
    if (x.id != y.id || x.position != y.position || x.count != y.count || x.priority != y.priority ||
        x.attempts != y.attempts || x.payload != y.payload || x.headers != y.headers || !same(x.dead, y.dead))
      return false;
  }
  return true;
}
bool equal(const Replied& a, const Replied& b) {
  return a.session == b.session && a.request == b.request && a.code == b.code && same(a.result, b.result);
}
template <class T>
bool equal(const T& a, const T& b) {
  return a == b;
}

std::string pair_text(const std::string& what, const std::string& engine, const std::string& model) {
  return what + "\n  engine: " + engine + "\n  model:  " + model + "\n";
}

template <class Items>
std::string lists(const std::string& what, const Items& engine, const Items& model) {
  auto a = engine.begin();
  auto b = model.begin();
  for (; a != engine.end() || b != model.end(); ++a, ++b) {
    const bool both = a != engine.end() && b != model.end();
    if (both && equal(*a, *b)) continue;
    return pair_text(what, a == engine.end() ? "nothing" : text(*a), b == model.end() ? "nothing" : text(*b));
  }
  return {};
}

template <class Key, class Item>
std::string maps(const std::string& what, const std::map<Key, Item>& engine, const std::map<Key, Item>& model,
                 std::string (*name)(const Key&)) {
  for (const auto& [key, item] : engine) {
    const auto found = model.find(key);
    if (found == model.end()) return pair_text(what + name(key), text(item), "nothing");
    if (!equal(item, found->second)) return pair_text(what + name(key), text(item), text(found->second));
  }
  for (const auto& [key, item] : model)
    if (!engine.contains(key)) return pair_text(what + name(key), "nothing", text(item));
  return {};
}

std::string session_name(const std::uint64_t& session) { return number(session); }
std::string consumer_name(const ConsumerKey& key) { return number(key.first) + "/" + number(key.second); }

}  // namespace

std::string difference(const Told& engine, const Told& model) {
  return lists("replies", engine.replies, model.replies) + lists("SETTLED", engine.settled, model.settled) +
         lists("ERROR (session, code)", engine.errors, model.errors) +
         lists("LEASE_LOST (session, consumer, lease, code)", engine.lost, model.lost) +
         lists("CONSUMER_CLOSED (session, consumer, code)", engine.closed, model.closed) +
         maps("deliveries to consumer ", engine.handed, model.handed, consumer_name) +
         maps("CONFIRM to session ", engine.confirmed, model.confirmed, session_name);
}

bool same(const wire::Value& a, const wire::Value& b) {
  const auto* map_a = a.get_if<wire::Map>();
  const auto* map_b = b.get_if<wire::Map>();
  if (map_a != nullptr && map_b != nullptr) return same(*map_a, *map_b);
  const auto* array_a = a.get_if<wire::Array>();
  const auto* array_b = b.get_if<wire::Array>();
  if (array_a == nullptr || array_b == nullptr) return a == b;
  if (array_a->size() != array_b->size()) return false;
  for (std::size_t i = 0; i < array_a->size(); ++i)
    if (!same((*array_a)[i], (*array_b)[i])) return false;
  return true;
}

bool same(const wire::Map& a, const wire::Map& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto& [key, value] = a.entries()[i];
    // Most often both have their keys in the same order.
    const auto& other = b.entries()[i];
    const wire::Value* const found = other.first == key ? &other.second : b.find(key);
    if (found == nullptr || !same(value, *found)) return false;
  }
  return true;
}

std::string shown(const wire::Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return "nil";
        } else if constexpr (std::is_same_v<Held, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<Held, std::string>) {
          return "\"" + held + "\"";
        } else if constexpr (std::is_same_v<Held, wire::Bin>) {
          return "bin \"" + held.bytes + "\"";
        } else if constexpr (std::is_same_v<Held, wire::Map>) {
          return shown(held);
        } else if constexpr (std::is_same_v<Held, wire::Array>) {
          std::string out = "[";
          for (const wire::Value& item : held) out += "\n    " + shown(item);
          return out + "]";
        } else {
          return std::to_string(held);
        }
      },
      value.storage());
}

std::string shown(const wire::Map& map) {
  std::string out = "{";
  for (const auto& [key, value] : map.entries()) out += (out.size() > 1 ? " " : "") + key + "=" + shown(value);
  return out + "}";
}

}  // namespace sluice::model
