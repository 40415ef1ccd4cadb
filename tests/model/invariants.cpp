#include "invariants.h"

#include <algorithm>

namespace sluice::model {
namespace {

constexpr std::uint64_t kTopicWindowMs = 120'000;

[[noreturn]] void broken(const char* name, const std::string& why) {
  throw Mismatch(std::string(name) + " broken: " + why);
}
void require(bool holds, const char* name, const std::string& why) {
  if (!holds) broken(name, why);
}
std::string number(std::uint64_t value) { return std::to_string(value); }

std::string text_of(const wire::Map& map, const char* key) {
  const wire::Value* const value = map.find(key);
  return value == nullptr ? "" : *value->get_if<std::string>();
}

}  // namespace

const Sent& Invariants::sent(const std::string& payload) const {
  const std::size_t serial = Generator::serial_of(payload);
  require(serial < generator_.sent().size() && generator_.sent()[serial].payload == payload, "S5",
          "no such message: " + payload);
  return generator_.sent()[serial];
}

void Invariants::after(const Command& command, const Told& told, const std::vector<Entered>& entered,
                       const engine::Now& now) {
  note_entered(entered, now);
  note_command(command, told, now);
  check_lost(told, now);
  check_closed(told);
}

void Invariants::note_command(const Command& command, const Told& told, const engine::Now& now) {
  const std::uint64_t session = command.session;
  if (const auto* open = std::get_if<Open>(&command.action)) {
    producers_[session] = open->producer.empty() ? "session " + number(session) : open->producer;
  } else if (std::holds_alternative<Close>(command.action)) {
    std::erase_if(live_, [&](const auto& entry) {
      if (entry.second.session == session) lease_of_.erase(entry.second.position);
      return entry.second.session == session;
    });
    std::erase_if(credits_, [&](const auto& entry) {
      if (entry.first.first == session && entry.second.owns_queue) forget_queue(entry.second.queue);
      return entry.first.first == session;
    });
  } else if (const auto* consume = std::get_if<wire::Consume>(&command.action)) {
    if (told.replies.back().code != 0) return;
    const ConsumerKey key{session, consume->consumer};
    const bool unnamed = !consume->topic.empty();
    const std::string queue =
        unnamed ? "_sub-" + number(session) + "-" + number(consume->consumer) : std::string(consume->queue);
    credits_[key] = {queue, consume->credit_messages, static_cast<std::int64_t>(consume->credit_bytes), unnamed};
    if (unnamed) patterns_[queue].insert(std::string(consume->topic));
  } else if (const auto* cancel = std::get_if<wire::Cancel>(&command.action)) {
    const auto found = credits_.find({session, cancel->consumer});
    if (found == credits_.end()) return;
    if (found->second.owns_queue) forget_queue(found->second.queue);
    credits_.erase({session, cancel->consumer});
  } else if (const auto* settle = std::get_if<wire::Settle>(&command.action)) {
    after_settle(session, *settle, told, now);
  } else if (const auto* request = std::get_if<wire::Request>(&command.action)) {
    after_request(*request, told.replies.back());
  }
}

void Invariants::after_settle(std::uint64_t session, const wire::Settle& frame, const Told& told,
                              const engine::Now& now) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> exceptions;
  bool expected = frame.request.has_value();
  std::vector<std::uint64_t> stale;
  for (const wire::Settlement& settlement : frame.settlements) {
    for (std::uint64_t lease = settlement.first_lease; lease <= settlement.last_lease; ++lease) {
      const auto found = live_.find(lease);
      if (found == live_.end() || found->second.session != session) {
        stale.push_back(lease);
        expected = true;
      } else if (settlement.verb != wire::Verb::extend) {
        lease_of_.erase(found->second.position);
        live_.erase(found);
      } else if (settlement.lease_ms && *settlement.lease_ms < 3'600'000) {
        found->second.ends_ms = now.moment_ms() + *settlement.lease_ms;
      } else {
        found->second.ends_ms = 0;  // the queue's, or refused: the model knows
      }
    }
  }
  if (expected) {
    std::vector<std::uint64_t> answered;
    for (const auto& [lease, code] : told.settled.back().exceptions)
      if (code == static_cast<std::uint64_t>(ErrorCode::stale)) answered.push_back(lease);
    require(answered == stale, "S7", "stale leases are answered so");
  }
  for (const wire::Grant& grant : frame.grants) {
    const auto found = credits_.find({session, grant.consumer});
    if (found == credits_.end()) continue;
    Credit& credit = found->second;
    const std::uint64_t bytes = credit.bytes > 0 ? static_cast<std::uint64_t>(credit.bytes) : 0;
    if (grant.messages > options_.credit_messages_max - credit.messages ||
        grant.bytes > options_.credit_bytes_max - bytes)
      continue;
    credit.messages += grant.messages;
    credit.bytes += static_cast<std::int64_t>(grant.bytes);
  }
}

void Invariants::after_request(const wire::Request& frame, const Replied& reply) {
  if (reply.code != 0) return;
  if (frame.verb == "bind.add")
    patterns_[text_of(frame.arguments, "queue")].insert(text_of(frame.arguments, "pattern"));
  if (frame.verb == "bind.remove")
    patterns_[text_of(frame.arguments, "queue")].erase(text_of(frame.arguments, "pattern"));
  const std::string name = text_of(frame.arguments, "name");
  if (frame.verb == "queue.delete") forget_queue(name);
  if (frame.verb == "queue.edit") forget_keys(name);  // the window may be another
}

// Its leases end by LEASE_LOST, its consumers by CONSUMER_CLOSED.
void Invariants::forget_queue(const std::string& queue) {
  patterns_.erase(queue);
  forget_keys(queue);
  std::erase_if(newest_first_, [&](const auto& entry) { return entry.first.first == queue; });
}

void Invariants::forget_keys(const std::string& queue) {
  std::erase_if(keys_,
                [&](const auto& entry) { return !std::get<0>(entry.first) && std::get<1>(entry.first) == queue; });
}

void Invariants::note_entered(const std::vector<Entered>& entered, const engine::Now& now) {
  for (const Entered& each : entered) {
    due_[each.position] = each.due_ms;
    if (!each.published) continue;
    const Sent& message = sent(each.payload);
    published_.insert(each.id);
    if (message.delay_ms != 0) due_[each.position] = now.moment_ms() + message.delay_ms;
    if (message.ttl_ms != 0) expires_[each.position] = now.steady_ms + message.ttl_ms;
    if (!message.key.empty()) check_key(message, each, now);
    if (!message.topic) {
      require(each.queue == message.target, "S5",
              each.payload + " is in " + each.queue + ", was published to " + message.target);
      continue;
    }
    Copies& copies = copies_[each.id];
    if (copies.got.empty()) copies.wanted = bound(message.target);
    require(copies.got.insert(each.queue).second, "S14", "two copies of " + each.payload + " in " + each.queue);
  }
}

void Invariants::check_key(const Sent& message, const Entered& entered, const engine::Now& now) {
  const std::uint64_t window_ms = message.topic ? kTopicWindowMs : entered.dedup_window_ms;
  if (window_ms == 0) return;
  KeyUse& last = keys_[{message.topic, message.target, message.key}];
  require(last.id == 0 || last.id == entered.id || now.steady_ms >= last.at_ms + window_ms, "S13",
          "key " + message.key + " of " + message.target + " enqueued as " + number(last.id) + " and " +
              number(entered.id));
  last = {entered.id, now.moment_ms()};
}

std::set<std::string> Invariants::bound(const std::string& topic) const {
  std::set<std::string> found;
  for (const auto& [queue, patterns] : patterns_)
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](const auto& pattern) { return pattern_matches(pattern, topic); }))
      found.insert(queue);
  return found;
}

void Invariants::after_turn(const Told& told, const std::vector<Entered>& entered, const engine::Now& now) {
  note_entered(entered, now);
  check_lost(told, now);
  check_order(told);
  check_handed(told, now);
  check_confirmed(told);
  check_fan_out();
  lost_.clear();
  closed_.clear();
}

void Invariants::check_lost(const Told& told, const engine::Now& now) {
  for (const auto& [session, consumer, lease, code] : told.lost) {
    if (!lost_.insert(lease).second) continue;
    const auto found = live_.find(lease);
    require(found != live_.end() && found->second.session == session, "S6",
            "lost lease " + number(lease) + " was not live");
    if (code == static_cast<std::uint64_t>(ErrorCode::lease_expired))
      require(now.steady_ms >= found->second.ends_ms, "S8",
              "lease " + number(lease) + " ended at " + number(now.steady_ms) + ", told was " +
                  number(found->second.ends_ms));
    lease_of_.erase(found->second.position);
    live_.erase(found);
  }
}

void Invariants::check_closed(const Told& told) {
  for (const auto& closed : told.closed) {
    if (closed_.count(closed) == told.closed.count(closed)) continue;
    closed_.insert(closed);
    credits_.erase({std::get<0>(closed), std::get<1>(closed)});
  }
}

// Within one turn several consumers get messages side by side: all of a turn come behind all of the turns before.
void Invariants::check_order(const Told& told) {
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> newest;
  for (const auto& [key, handed] : told.handed) {
    const std::string& queue = credits_[key].queue;
    for (const Delivered& message : handed.messages) {
      const bool in_order = message.count == 1 && sent(message.payload).delay_ms == 0;
      if (!in_order) continue;
      const auto before = newest_first_.find({queue, message.priority});
      require(before == newest_first_.end() || before->second < message.position, "S12",
              "in " + queue + " position " + number(message.position) + " first delivered after a later one");
      std::uint64_t& last = newest[{queue, message.priority}];
      last = std::max(last, message.position);
    }
  }
  for (const auto& [key, position] : newest) newest_first_[key] = position;
}

void Invariants::check_handed(const Told& told, const engine::Now& now) {
  std::vector<const std::pair<const ConsumerKey, Handed>*> in_order;
  for (const auto& entry : told.handed) in_order.push_back(&entry);
  std::sort(in_order.begin(), in_order.end(),
            [](const auto* a, const auto* b) { return a->second.first_lease < b->second.first_lease; });
  for (const auto* entry : in_order) {
    const auto& [key, handed] = *entry;
    const auto credit = credits_.find(key);
    require(credit != credits_.end(), "S9", "a delivery to a consumer that is not there");
    for (std::size_t i = 0; i < handed.messages.size(); ++i) {
      const Delivered& message = handed.messages[i];
      const std::uint64_t lease = handed.first_lease + i;
      require(lease > last_lease_, "S6", "lease " + number(lease) + " after " + number(last_lease_));
      last_lease_ = lease;
      require(lease_of_.emplace(message.position, lease).second, "S6", "two live leases of " + message.payload);
      live_[lease] = {key.first, key.second, message.position, now.moment_ms() + handed.lease_ms};
      require(credit->second.messages > 0 && credit->second.bytes > 0, "S9",
              "consumer " + number(key.second) + " of session " + number(key.first) + " had no credit for " +
                  message.payload);
      credit->second.messages -= 1;
      credit->second.bytes -= static_cast<std::int64_t>(message.payload.size() + message.headers.size());
      check_message(message, now);
    }
  }
}

void Invariants::check_message(const Delivered& message, const engine::Now& now) {
  Met& before = met_[message.position];
  require(message.attempts >= before.attempts && message.count == before.count + 1, "S10",
          message.payload + ": attempts " + number(before.attempts) + " became " + number(message.attempts) +
              ", deliveries " + number(before.count) + " became " + number(message.count));
  before = {message.attempts, message.count};
  require(now.steady_ms >= due_[message.position], "S24", message.payload + " before it is due");
  const auto expires = expires_.find(message.position);
  require(expires == expires_.end() || now.steady_ms < expires->second, "S24",
          message.payload + " after its time to live");
}

void Invariants::check_confirmed(const Told& told) {
  for (const auto& [session, confirmed] : told.confirmed) {
    for (const auto& [sequence, answer] : confirmed.answers) {
      if (answer.code == static_cast<std::uint64_t>(ErrorCode::sequence_gap)) continue;
      const auto [known, first] = answers_.emplace(std::pair(producers_.at(session), sequence), answer);
      require(known->second == answer, "S13", "sequence " + number(sequence) + " has two answers");
      if (!first || answer.code != 0) continue;
      require(published_.contains(answer.id), "S13", "id " + number(answer.id) + " was never enqueued");
    }
  }
}

void Invariants::check_fan_out() {
  for (const auto& [id, copies] : copies_)
    require(copies.wanted == copies.got, "S14",
            "id " + number(id) + " went to " + number(copies.got.size()) + " of " + number(copies.wanted.size()) +
                " bound queues");
  copies_.clear();
}

void Invariants::check_conservation(const wire::Array& queues) {
  for (const wire::Value& value : queues) {
    const wire::Map& queue = *value.get_if<wire::Map>();
    const wire::Map& counters = *queue.find("counters")->get_if<wire::Map>();
    const auto sum = [](const wire::Map& map, std::initializer_list<const char*> keys) {
      std::uint64_t total = 0;
      for (const char* key : keys) total += *map.find(key)->get_if<std::uint64_t>();
      return total;
    };
    const std::uint64_t ended =
        sum(counters, {"acked", "dead_lettered", "dropped", "expired", "purged", "replayed_out"});
    require(sum(counters, {"enqueued"}) == sum(queue, {"ready", "delayed", "leased"}) + ended, "S3", shown(queue));
  }
}

}  // namespace sluice::model
