#pragma once
// model/tee.h: records for two, and which queues have held messages that are not kept.

#include <set>
#include <string>

#include "engine/records.h"

namespace sluice::model {

class Tee final : public engine::Records {
 public:
  // `first` decides whether messages are kept.
  Tee(engine::Records& first, engine::Records& second) : first_(first), second_(second) {}

  bool keeps() const override { return first_.keeps(); }
  void queue_created(engine::Queue& queue) override { both(&Records::queue_created, queue); }
  void queue_changed(engine::Queue& queue) override { both(&Records::queue_changed, queue); }
  void queue_deleted(const engine::Queue& queue) override { both(&Records::queue_deleted, queue); }
  void bound(const engine::Queue& queue, std::string_view pattern) override { both(&Records::bound, queue, pattern); }
  void unbound(const engine::Queue& queue, std::string_view pattern) override {
    both(&Records::unbound, queue, pattern);
  }
  void published(std::span<engine::Message* const> copies, const engine::Publication& publication,
                 const engine::Now& now) override {
    for (const engine::Message* copy : copies) note(*copy);
    both(&Records::published, copies, publication, now);
  }
  void delivered(const engine::Message& message, LeaseId lease) override { both(&Records::delivered, message, lease); }
  void returned(const engine::Message& message, engine::Cause cause, const engine::Now& now) override {
    both(&Records::returned, message, cause, now);
  }
  void ended(const engine::Message& message, engine::Ended how) override { both(&Records::ended, message, how); }
  void dead_lettered(const engine::Message& message, engine::Cause cause) override {
    note(message);
    both(&Records::dead_lettered, message, cause);
  }
  void replayed(const engine::Message& message) override {
    note(message);
    both(&Records::replayed, message);
  }
  void producer_opened(std::uint64_t number, std::string_view name) override {
    both(&Records::producer_opened, number, name);
  }
  void accepted(std::uint64_t producer, std::uint64_t sequence, MessageId id) override {
    both(&Records::accepted, producer, sequence, id);
  }
  void refused(std::uint64_t producer, std::uint64_t sequence, const wire::ErrorBody& error) override {
    both(&Records::refused, producer, sequence, error);
  }
  void producer_forgotten(std::uint64_t number) override { both(&Records::producer_forgotten, number); }

  // Nothing records what happened in them to such messages: their counters may fall at a restart.
  const std::set<std::string>& uncounted() const { return uncounted_; }

 private:
  using Records = engine::Records;

  template <class Function, class... Arguments>
  void both(Function function, Arguments&&... arguments) {
    (first_.*function)(arguments...);
    (second_.*function)(arguments...);
  }

  void note(const engine::Message& message) {
    if (!message.in_journal) uncounted_.insert(message.queue->name);
  }

  std::set<std::string> uncounted_;
  Records& first_;
  Records& second_;
};

}  // namespace sluice::model
