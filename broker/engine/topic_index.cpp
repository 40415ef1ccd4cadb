#include "engine/topic_index.h"

#include <algorithm>

#include "base/check.h"
#include "engine/topic_pattern.h"

namespace sluice::engine {

bool TopicIndex::add(Queue& queue, std::string_view pattern) {
  SLUICE_CHECK(!pattern_error(pattern));
  if (contains(queue, pattern)) return false;
  bindings_.insert(Binding{&queue, std::string(pattern)});
  trie_.add(queue, pattern);
  return true;
}

bool TopicIndex::remove(Queue& queue, std::string_view pattern) {
  const auto found = bindings_.find(Key{queue.name, pattern});
  if (found == bindings_.end()) return false;
  trie_.remove(queue, pattern);
  bindings_.erase(found);
  return true;
}

std::size_t TopicIndex::remove_all(Queue& queue) {
  const auto first = bindings_.lower_bound(Key{queue.name, {}});
  auto last = first;
  std::size_t removed = 0;
  for (; last != bindings_.end() && last->queue == &queue; ++last, ++removed) trie_.remove(queue, last->pattern);
  bindings_.erase(first, last);
  return removed;
}

Result<void> TopicIndex::room() const {
  if (bindings_.size() < bindings_max_) return {};
  return fail(ErrorCode::binding_limit, "the broker has " + std::to_string(bindings_max_) + " bindings, its limit");
}

std::vector<std::string_view> TopicIndex::patterns(const Queue& queue) const {
  std::vector<std::string_view> found;
  for (auto at = bindings_.lower_bound(Key{queue.name, {}}); at != bindings_.end() && at->queue == &queue; ++at)
    found.push_back(at->pattern);
  return found;
}

BindingPage TopicIndex::page(const BindingFilter& filter, std::size_t limit) const {
  // No pattern is empty, so the key of a name alone is less than all bindings of the queue.
  const Key after =
      std::max({Key{filter.after_queue, filter.after_pattern}, Key{filter.queue, {}}, Key{filter.queue_prefix, {}}});
  BindingPage page;
  for (auto at = bindings_.upper_bound(after); at != bindings_.end(); ++at) {
    const std::string_view name = at->queue->name;
    if (!filter.queue.empty() && name != filter.queue) break;
    if (!name.starts_with(filter.queue_prefix)) break;
    page.more = page.bindings.size() == limit;
    if (page.more) break;
    page.bindings.push_back(&*at);
  }
  return page;
}

}  // namespace sluice::engine
