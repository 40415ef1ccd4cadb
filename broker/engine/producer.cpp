#include "engine/producer.h"

#include <algorithm>

#include "base/check.h"

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
  forget_old();
}

void Producer::refused(std::uint64_t sequence, const wire::ErrorBody& error) {
  add_refused(refused_, sequence, error);
  decided(sequence);
  forget_old();
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
}

void Producer::block(std::uint64_t sequence, Blocked& blocked) {
  blocked_.emplace(sequence, &blocked);
  decided(sequence);
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
  known_ = true;
  last_ = std::max(last_, sequence);
}

Producer& ProducerTable::open(std::string_view name) {
  auto& entry = entries_[std::string(name)];
  if (entry == nullptr) entry = std::make_unique<Entry>();
  ++entry->sessions;
  entry->idle_turn = 0;
  return entry->producer;
}

void ProducerTable::close(std::string_view name) {
  Entry& entry = *entries_.at(std::string(name));
  SLUICE_CHECK(entry.sessions > 0);
  if (--entry.sessions > 0) return;
  entry.idle_turn = ++idle_turn_;
  idle_.emplace_back(std::string(name), idle_turn_);
  while (idle_.size() > kIdleMax) {
    const auto found = entries_.find(idle_.front().first);
    if (found != entries_.end() && found->second->idle_turn == idle_.front().second) entries_.erase(found);
    idle_.pop_front();
  }
}

}  // namespace sluice::engine
