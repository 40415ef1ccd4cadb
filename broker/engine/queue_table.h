#pragma once
// engine/queue_table.h: all queues, by name.
//
// Errors   bad_queue_name, unknown_queue, queue_limit.
// Owns     the queues, not their messages.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "engine/queue.h"
#include "engine/records.h"

namespace sluice::engine {

class QueueTable {
 public:
  QueueTable(const Policy& defaults, std::uint64_t queues_max, bool auto_create, Records& records)
      : defaults_(defaults), queues_max_(queues_max), auto_create_(auto_create), records_(records) {}

  // nullptr if there is none.
  Queue* find(std::string_view name);
  // The queue, or unknown_queue or bad_queue_name.
  Result<Queue*> get(std::string_view name);
  // The queue, made with the default policy when there is none and auto-create is on.
  Result<Queue*> get_or_create(std::string_view name);
  // Whether get_or_create() could make it, after so many others.
  bool may_create(std::string_view name, std::size_t others) const;
  Result<Queue*> create(std::string_view name, const Policy& policy, bool temporary = false);
  // For the broker's own use: a dead-letter queue is made by need, whatever the limit says, so that no dead letter is lost.
  Queue& dead_letters_of(const Queue& origin);
  // REQUIRES: no messages, no consumers.
  void erase(Queue& queue);

  // For recovery: takes the queue over as it is.
  Queue& restore(std::unique_ptr<Queue> queue);
  std::uint64_t next_number() const { return next_number_; }
  void begin_at(std::uint64_t next_number) { next_number_ = next_number; }

  const std::map<std::string, std::unique_ptr<Queue>, std::less<>>& by_name() const { return queues_; }
  const Policy& defaults() const { return defaults_; }
  std::size_t size() const { return queues_.size(); }

 private:
  Queue& insert(std::string_view name, const Policy& policy, bool temporary);

  Policy defaults_;
  std::uint64_t queues_max_;
  bool auto_create_;
  Records& records_;
  std::uint64_t next_number_ = 1;
  std::map<std::string, std::unique_ptr<Queue>, std::less<>> queues_;
};

}  // namespace sluice::engine
