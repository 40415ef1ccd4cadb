#include "engine/dedup_keys.h"

namespace sluice::engine {

std::optional<MessageId> DedupKeys::find(std::string_view key, std::uint64_t window_ms, const Now& now) {
  forget_old(window_ms, now);
  const auto found = keys_.find(std::string(key));
  if (found == keys_.end()) return std::nullopt;
  return found->second.id;
}

void DedupKeys::add(std::string_view key, MessageId id, const Now& now) {
  keys_.emplace(std::string(key), Entry{id, now.moment_ms()});
  order_.emplace_back(now.moment_ms(), std::string(key));
}

DedupKeys::Entry* DedupKeys::look(std::string_view key) {
  const auto found = keys_.find(std::string(key));
  return found == keys_.end() ? nullptr : &found->second;
}

void DedupKeys::restore(std::string_view key, const Entry& entry) {
  keys_.insert_or_assign(std::string(key), entry);
  order_.emplace_back(entry.at_ms, std::string(key));
}

void DedupKeys::forget_old(std::uint64_t window_ms, const Now& now) {
  while (!order_.empty() && now.steady_ms >= order_.front().first + window_ms) {
    const auto found = keys_.find(order_.front().second);
    if (found != keys_.end() && found->second.at_ms == order_.front().first) keys_.erase(found);
    order_.pop_front();
  }
}

}  // namespace sluice::engine
