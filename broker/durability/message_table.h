#pragma once
// durability/message_table.h: messages by key.
//
// Shapes   keys rise and most messages go in the order in which they came, so the table is pages of consecutive keys; a page goes
//          with its last message. A message that stays keeps one page (2 KiB) alive.
// Threads  one.
// Owns     nothing.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "engine/message.h"

namespace sluice::durability {

class MessageTable {
 public:
  // REQUIRES: the key is not there.
  void add(std::uint64_t key, engine::Message& message) {
    Page* page = page_of(key);
    if (page == nullptr) {
      recent_number_ = key / kPageKeys;
      recent_ = pages_.emplace(recent_number_, std::make_unique<Page>()).first->second.get();
      page = recent_;
    }
    page->messages[key % kPageKeys] = &message;
    ++page->live;
    ++size_;
  }

  engine::Message* find(std::uint64_t key) {
    Page* const page = page_of(key);
    return page == nullptr ? nullptr : page->messages[key % kPageKeys];
  }

  // REQUIRES: the key is there.
  void remove(std::uint64_t key) {
    Page* const page = page_of(key);
    page->messages[key % kPageKeys] = nullptr;
    --size_;
    if (--page->live > 0) return;
    pages_.erase(key / kPageKeys);
    recent_ = nullptr;
    recent_number_ = ~std::uint64_t{0};
  }

  std::uint64_t size() const { return size_; }

  // Calls visit(Message&) for all, in order of key. The table may not change meanwhile.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(pages_.size());
    for (const auto& [number, page] : pages_) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end());
    for (const std::uint64_t number : numbers)
      for (engine::Message* message : pages_.at(number)->messages)
        if (message != nullptr) visit(*message);
  }

 private:
  static constexpr std::uint64_t kPageKeys = 256;

  struct Page {
    std::array<engine::Message*, kPageKeys> messages{};
    std::uint32_t live = 0;
  };

  Page* page_of(std::uint64_t key) {
    const std::uint64_t number = key / kPageKeys;
    if (number == recent_number_) return recent_;
    const auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    recent_number_ = number;
    recent_ = found->second.get();
    return recent_;
  }

  absl::flat_hash_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t recent_number_ = ~std::uint64_t{0};
  Page* recent_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace sluice::durability
