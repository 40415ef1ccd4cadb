#include "engine/producer.h"

#include <algorithm>

#include "base/check.h"
#include "engine/records.h"

namespace sluice::engine {

std::optional<std::uint64_t> Producer::find(std::uint64_t sequence) const {
  if (sequence > last_) return std::nullopt;
  // Newest first: a resend begins at the first unconfirmed one, which is among the last.
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run)
    if (sequence >= run->first_sequence && sequence - run->first_sequence < run->count)
      return run->first_id + (sequence - run->first_sequence);
  return std::nullopt;
}

void Producer::accepted(std::uint64_t sequence, std::uint64_t id) {
  add_accepted(runs_, sequence, id);
  decided(sequence);
}

void Producer::refused(std::uint64_t sequence, const wire::ErrorBody& error) {
  add_refused(refused_, sequence, error);
  decided(sequence);
}

const wire::ErrorBody* Producer::find_refused(std::uint64_t sequence) const {
  for (auto run = refused_.rbegin(); run != refused_.rend(); ++run)
    if (sequence >= run->first_sequence && sequence - run->first_sequence < run->count) return &run->error;
  return nullptr;
}

void Producer::forget_old() {
  // A sequence may be as large as 2^64-1: what is compared are distances.
  const auto too_old = [this](const auto& run) {
    return last_ - (run.first_sequence + (run.count - 1)) > kRememberedMax;
  };
  while (!runs_.empty() && too_old(runs_.front())) runs_.pop_front();
  while (!refused_.empty() && too_old(refused_.front())) refused_.pop_front();
  while (!missing_.empty() && last_ - *missing_.begin() > kRememberedMax) missing_.erase(missing_.begin());
}

void Producer::block(std::uint64_t sequence, Blocked& blocked) {
  blocked_.emplace(sequence, &blocked);
  known(sequence);
}

// What came behind it keeps its answer. The last ones are taken back, so that a producer which starts anew goes on from there.
void Producer::forget_blocked(std::uint64_t sequence) {
  blocked_.erase(sequence);
  missing_.insert(sequence);
  while (!missing_.empty() && *missing_.rbegin() == last_) {
    missing_.erase(last_);
    --last_;
  }
}

std::uint64_t Producer::decided_up_to() const {
  std::uint64_t below = last_;
  if (!blocked_.empty()) below = std::min(below, blocked_.begin()->first - 1);
  if (!missing_.empty()) below = std::min(below, *missing_.begin() - 1);
  return below;
}

Blocked* Producer::find_blocked(std::uint64_t sequence) const {
  const auto found = blocked_.find(sequence);
  return found == blocked_.end() ? nullptr : found->second;
}

Blocked* Producer::blocked_of(const Peer& peer) const {
  const auto found = std::ranges::find_if(blocked_, [&](const auto& entry) { return entry.second->peer == &peer; });
  return found == blocked_.end() ? nullptr : found->second;
}

void Producer::decided(std::uint64_t sequence) {
  known(sequence);
  forget_old();
}

void Producer::known(std::uint64_t sequence) {
  known_ = true;
  last_ = std::max(last_, sequence);
  missing_.erase(sequence);
}

std::uint64_t Producer::last_decided() const {
  std::uint64_t last = 0;
  for (const wire::Accepted& run : runs_) last = std::max(last, run.first_sequence + (run.count - 1));
  for (const wire::Refused& run : refused_) last = std::max(last, run.first_sequence + (run.count - 1));
  return last;
}

void Producer::restore(std::uint64_t last_sequence, std::deque<wire::Accepted> accepted,
                       std::deque<wire::Refused> refused) {
  known_ = !accepted.empty() || !refused.empty();
  last_ = last_sequence;
  runs_ = std::move(accepted);
  refused_ = std::move(refused);
  find_missing();
  forget_old();
}

// What stands between two answers waited for room when the broker went.
void Producer::find_missing() {
  std::map<std::uint64_t, std::uint64_t> answered;  // first sequence: the one behind the last
  const auto add = [&](const auto& run) { answered.emplace(run.first_sequence, run.first_sequence + run.count); };
  for (const wire::Accepted& run : runs_) add(run);
  for (const wire::Refused& run : refused_) add(run);
  std::uint64_t next = answered.empty() ? 0 : answered.begin()->first;
  for (const auto& [first, behind] : answered) {
    for (std::uint64_t sequence = next; sequence < first; ++sequence) missing_.insert(sequence);
    next = std::max(next, behind);
  }
}

Producer& ProducerTable::open(std::string_view name) {
  const auto found = entries_.find(std::string(name));
  const bool is_new = found == entries_.end();
  Entry& entry = is_new ? add(next_number_++, name) : *found->second;
  ++entry.sessions;
  entry.idle_turn = 0;
  if (is_new) records_.producer_opened(entry.producer.number_, entry.name);
  return entry.producer;
}

void ProducerTable::close(std::string_view name) {
  Entry& entry = *entries_.at(std::string(name));
  SLUICE_CHECK(entry.sessions > 0);
  if (--entry.sessions > 0) return;
  rest(entry);
  while (idle_.size() > kIdleMax) {
    const auto found = entries_.find(idle_.front().first);
    if (found != entries_.end() && found->second->idle_turn == idle_.front().second) {
      records_.producer_forgotten(found->second->producer.number_);
      by_number_.erase(found->second->producer.number_);
      entries_.erase(found);
    }
    idle_.pop_front();
  }
}

Producer* ProducerTable::find(std::uint64_t number) {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &found->second->producer;
}

Producer* ProducerTable::find(std::string_view name) {
  const auto found = entries_.find(std::string(name));
  return found == entries_.end() ? nullptr : &found->second->producer;
}

Producer& ProducerTable::restore(std::uint64_t number, std::string_view name) {
  Entry& entry = add(number, name);
  rest(entry);
  return entry.producer;
}

void ProducerTable::forget(std::uint64_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  const std::string name = found->second->name;
  by_number_.erase(found);
  entries_.erase(name);
}

ProducerTable::Entry& ProducerTable::add(std::uint64_t number, std::string_view name) {
  auto entry = std::make_unique<Entry>();
  entry->name = name;
  entry->producer.number_ = number;
  Entry& added = *entry;
  SLUICE_CHECK(entries_.emplace(std::string(name), std::move(entry)).second);
  SLUICE_CHECK(by_number_.emplace(number, &added).second);
  return added;
}

void ProducerTable::rest(Entry& entry) {
  entry.idle_turn = ++idle_turn_;
  idle_.emplace_back(entry.name, entry.idle_turn);
}

}  // namespace sluice::engine
