// The end of the model's turn: spec/semantics.md "Lease", "Delay", "TTL", "Dispatch", "Suspects"; and confirmations.
#include <algorithm>
#include <utility>

#include "model.h"

namespace sluice::model {
namespace {

constexpr std::uint64_t kLeaseTotalMs = 12ULL * 3'600'000;

// In which order messages are handed out.
bool comes_before(const Message& a, const Message& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.position < b.position;
}

Message* next_ready(Queue& queue, bool suspect) {
  Message* next = nullptr;
  for (Message& message : queue.messages)
    if (message.state == State::ready && message.suspect == suspect &&
        (next == nullptr || comes_before(message, *next)))
      next = &message;
  return next;
}

}  // namespace

void Model::finish_turn(const std::map<ConsumerKey, Handed>& leases) {
  end_leases();
  wake();
  expire_due();
  admit_waiting();
  end_solitude();
  for (auto& [name, queue] : queues_) {
    if (draining_ && next_ready(queue, false) != nullptr) hit(Corner::drain_holds_back);
    if (!draining_) dispatch(queue);
  }
  number_leases(leases);
  confirm();
}

void Model::end_leases() {
  while (true) {
    const Lease* first = nullptr;
    for (const Lease& lease : leases_)
      if (lease.ends_ms <= now_.steady_ms &&
          (first == nullptr || std::pair(lease.ends_ms, lease.set) < std::pair(first->ends_ms, first->set)))
        first = &lease;
    if (first == nullptr) return;
    lease_ended(first->number);
  }
}

void Model::wake() {
  for (auto& [name, queue] : queues_)
    for (Message& message : queue.messages)
      if (message.state == State::delayed && message.due_ms <= now_.steady_ms) message.state = State::ready;
}

void Model::expire_due() {
  while (true) {
    Queue* queue_of_first = nullptr;
    const Message* first = nullptr;
    for (auto& [name, queue] : queues_) {
      for (const Message& message : queue.messages) {
        if (message.state == State::leased || !is_expired(message)) continue;
        if (first != nullptr &&
            std::pair(*first->expires_ms, first->expiry_set) < std::pair(*message.expires_ms, message.expiry_set))
          continue;
        queue_of_first = &queue;
        first = &message;
      }
    }
    if (first == nullptr) return;
    hit(first->state == State::delayed ? Corner::expired_delayed : Corner::expired_ready);
    expire(*queue_of_first, first->position);
  }
}

void Model::admit_waiting() {
  time_out_waiting();
  std::vector<std::string> names;
  for (const auto& [name, queue] : queues_)
    if (!queue.waiting.empty()) names.push_back(name);
  for (const std::string& name : names) admit(name);
}

// A consumer that holds nothing is free for anything; a cancelled one is gone then.
void Model::end_solitude() {
  std::erase_if(consumers_, [&](const Consumer& each) { return each.cancelled && held(each.key) == 0; });
  for (Consumer& each : consumers_)
    if (held(each.key) == 0) each.alone = each.reserved = false;
}

void Model::dispatch(Queue& queue) {
  if (queue.paused) {
    const bool could = next_ready(queue, false) != nullptr &&
                       std::any_of(consumers_.begin(), consumers_.end(), [&](const Consumer& each) {
                         return each.queue == queue.name && each.credit_messages > 0 && each.credit_bytes > 0;
                       });
    if (could) hit(Corner::paused_held_back);
    return;
  }
  while (dispatch_one(queue)) {
  }
}

// One message to one consumer, or one consumer kept free; false if neither.
bool Model::dispatch_one(Queue& queue) {
  Consumer* least = nullptr;
  bool somebody_will_be_free = false;
  for (Consumer& each : consumers_) {
    if (each.queue != queue.name || each.cancelled) continue;
    somebody_will_be_free = somebody_will_be_free || each.alone || each.reserved;
    if (each.credit_messages == 0 || each.credit_bytes <= 0 || each.alone || each.reserved) continue;
    if (least == nullptr || std::pair(held(each.key), each.served) < std::pair(held(least->key), least->served))
      least = &each;
  }
  if (least == nullptr) return false;
  Message* const ready = next_ready(queue, false);
  Message* const suspect = next_ready(queue, true);
  if (suspect != nullptr && held(least->key) > 0 && !somebody_will_be_free) {
    hit(Corner::consumer_reserved);
    least->reserved = true;
    return true;
  }
  if (suspect != nullptr && held(least->key) == 0 && (ready == nullptr || comes_before(*suspect, *ready))) {
    hit(Corner::suspect_delivered);
    least->alone = true;
    hand(queue, *least, *suspect);
    return true;
  }
  if (ready == nullptr) return false;
  hand(queue, *least, *ready);
  return true;
}

void Model::hand(Queue& queue, Consumer& to, Message& message) {
  message.state = State::leased;
  ++message.tries.deliveries;
  ++queue.counters["delivered"];
  to.credit_messages -= 1;
  to.credit_bytes -= static_cast<std::int64_t>(message.size());
  if (to.credit_bytes < 0) hit(Corner::bytes_below_zero);
  to.served = next_served_++;
  Handed& handed = told.handed[{to.session, to.number}];
  handed.lease_ms = queue.rules.lease_ms;
  handed.messages.push_back({message.id, message.position, message.tries.deliveries, message.priority,
                             message.tries.attempts(), message.payload, message.headers,
                             queue.is_dead_letters() ? dead_map(message) : wire::Map()});
  Lease lease;
  lease.consumer = to.key;
  lease.queue = queue.name;
  lease.position = message.position;
  lease.ends_ms = now_.moment_ms() + queue.rules.lease_ms;
  lease.ends_latest_ms = now_.moment_ms() + std::max(kLeaseTotalMs, queue.rules.lease_ms);
  unnumbered_.emplace_back(ConsumerKey{to.session, to.number}, lease);
}

// Consecutive within a delivery; times count as set in order of the numbers.
void Model::number_leases(const std::map<ConsumerKey, Handed>& leases) {
  std::map<ConsumerKey, std::uint64_t> next;
  for (const auto& [key, handed] : leases) next[key] = handed.first_lease;
  for (auto& [key, lease] : unnumbered_) {
    lease.number = next[key]++;
    told.handed[key].first_lease = leases.contains(key) ? leases.at(key).first_lease : 0;
  }
  std::sort(unnumbered_.begin(), unnumbered_.end(),
            [](const auto& a, const auto& b) { return a.second.number < b.second.number; });
  for (auto& [key, lease] : unnumbered_) {
    lease.set = next_set_++;
    leases_.push_back(lease);
  }
  unnumbered_.clear();
}

// Every sequence up to up_to is decided.
void Model::confirm() {
  for (auto& [number, session] : sessions_) {
    session.unconfirmed_messages = 0;
    for (const auto& [name, queue] : queues_)
      for (const Waiting& waiting : queue.waiting) session.unconfirmed_messages += waiting.session == number ? 1U : 0U;
    if (session.answers.empty()) continue;
    Confirmed confirmed;
    confirmed.up_to = producers_.at(session.producer).last;
    for (const auto& [name, queue] : queues_)
      for (const Waiting& waiting : queue.waiting)
        if (sessions_.at(waiting.session).producer == session.producer)
          confirmed.up_to = std::min(confirmed.up_to, waiting.sequence - 1);
    const Producer& sender = producers_.at(session.producer);
    if (!sender.missing.empty()) {
      hit(Corner::up_to_behind_missing);
      confirmed.up_to = std::min(confirmed.up_to, *sender.missing.begin() - 1);
    }
    confirmed.answers = std::exchange(session.answers, {});
    std::sort(confirmed.answers.begin(), confirmed.answers.end());
    told.confirmed[number] = confirmed;
  }
}

std::vector<std::uint64_t> Model::timers() const {
  std::vector<std::uint64_t> times;
  for (const Lease& lease : leases_) times.push_back(lease.ends_ms);
  for (const auto& [name, queue] : queues_) {
    for (const Message& message : queue.messages) {
      if (message.state == State::delayed) times.push_back(message.due_ms);
      if (message.state != State::leased && message.expires_ms) times.push_back(*message.expires_ms);
    }
    for (const Waiting& waiting : queue.waiting) times.push_back(waiting.until_ms);
  }
  return times;
}

std::vector<std::uint64_t> Model::windows() const {
  std::vector<std::uint64_t> times;
  for (const auto& [name, queue] : queues_)
    for (const Key& key : queue.keys) times.push_back(key.at_ms + queue.rules.dedup_window_ms);
  return times;
}

}  // namespace sluice::model
