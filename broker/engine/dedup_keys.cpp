#include "engine/dedup_keys.h"

namespace sluice::engine {

std::optional<MessageId> DedupKeys::find(std::string_view key, std::uint64_t window_ms, const Now& now) {
  forget_old(window_ms, now);
  const auto found = keys_.find(std::string(key));
  if (found == keys_.end()) return std::nullopt;
  return found->second.id;
}

void DedupKeys::add(std::string_view key, MessageId id, const Now& now) {
  keys_.emplace(std::string(key), Entry{id, now.steady_ms});
  order_.emplace_back(now.steady_ms, std::string(key));
}

void DedupKeys::forget_old(std::uint64_t window_ms, const Now& now) {
  while (!order_.empty() && now.steady_ms - order_.front().first >= window_ms) {
    keys_.erase(order_.front().second);
    order_.pop_front();
  }
}

}  // namespace sluice::engine
