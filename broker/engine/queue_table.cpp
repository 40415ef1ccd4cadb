#include "engine/queue_table.h"

#include "base/check.h"
#include "engine/queue_name.h"

namespace sluice::engine {

Queue* QueueTable::find(std::string_view name) {
  const auto found = queues_.find(name);
  return found == queues_.end() ? nullptr : found->second.get();
}

Result<Queue*> QueueTable::get(std::string_view name) {
  if (Queue* const queue = find(name)) return queue;
  if (auto error = queue_name_error(name)) return fail(ErrorCode::bad_queue_name, *std::move(error));
  return fail(ErrorCode::unknown_queue, "no queue " + std::string(name));
}

Result<Queue*> QueueTable::get_or_create(std::string_view name) {
  if (Queue* const queue = find(name)) return queue;
  if (!auto_create_) return get(name);
  return create(name, defaults_);
}

bool QueueTable::may_create(std::string_view name, std::size_t others) const {
  return auto_create_ && queues_.size() + others < queues_max_ && !queue_name_error(name);
}

Result<Queue*> QueueTable::create(std::string_view name, const Policy& policy, bool temporary) {
  if (auto error = queue_name_error(name)) return fail(ErrorCode::bad_queue_name, *std::move(error));
  if (queues_.size() >= queues_max_)
    return fail(ErrorCode::queue_limit, "the broker has " + std::to_string(queues_max_) + " queues, its limit");
  return &insert(name, policy, temporary);
}

Queue& QueueTable::dead_letters_of(const Queue& origin) {
  const std::string name = dead_letter_name(origin.name);
  if (Queue* const queue = find(name)) return *queue;
  return insert(name, defaults_, false);
}

Queue& QueueTable::insert(std::string_view name, const Policy& policy, bool temporary) {
  auto queue = std::make_unique<Queue>();
  queue->name = name;
  queue->number = next_number_++;
  queue->temporary = temporary;
  queue->policy = policy;
  queue->dead_letters = is_dead_letter_name(name);
  Queue& made = *queues_.emplace(std::string(name), std::move(queue)).first->second;
  records_.queue_created(made);
  return made;
}

Queue& QueueTable::restore(std::unique_ptr<Queue> queue) {
  std::string name = queue->name;
  const auto [place, added] = queues_.emplace(std::move(name), std::move(queue));
  SLUICE_CHECK(added);
  return *place->second;
}

void QueueTable::erase(Queue& queue) {
  SLUICE_CHECK(queue.first == nullptr && queue.consumers.empty());
  records_.queue_deleted(queue);
  queues_.erase(queue.name);
}

}  // namespace sluice::engine
