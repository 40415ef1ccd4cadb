#include "wire/value.h"

#include <algorithm>

namespace sluice::wire {

Value::Value(std::int64_t v) {
  if (v < 0) {
    storage_ = v;
  } else {
    storage_ = static_cast<std::uint64_t>(v);
  }
}

Map::Map(Entries unique_entries) : entries_(std::move(unique_entries)) {}

const Value* Map::find(std::string_view key) const {
  const auto found = std::ranges::find(entries_, key, &std::pair<std::string, Value>::first);
  return found == entries_.end() ? nullptr : &found->second;
}

Map& Map::set(std::string key, Value value) {
  const auto found = std::ranges::find(entries_, key, &std::pair<std::string, Value>::first);
  if (found != entries_.end()) {
    found->second = std::move(value);
  } else {
    entries_.emplace_back(std::move(key), std::move(value));
  }
  return *this;
}

bool operator==(const Map& a, const Map& b) { return a.entries_ == b.entries_; }

}  // namespace sluice::wire
