#pragma once
// record/list.h: the items of one record, decoded one by one while somebody walks over them.
//
// Shapes   made by RecordReader only, which has read each item once and found it good: walking cannot fail and allocates nothing.
// Owns     nothing; valid as long as the reader's bytes.

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace sluice::record {

// Reads the item at `at` and gives where the next one begins. `base`: the first of the reader's bytes.
// Defined for PublishedMessage and Copy in decode.cpp.
template <class Item>
const std::byte* read_item(const std::byte* base, const std::byte* at, const std::byte* end, Item& item);

template <class Item>
class List {
 public:
  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    Iterator() = default;
    const Item& operator*() const { return item_; }
    const Item* operator->() const { return &item_; }
    Iterator& operator++() {
      if (--left_ > 0) read();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& iterator, std::default_sentinel_t) { return iterator.left_ == 0; }

   private:
    friend class List;
    explicit Iterator(const List& list) : base_(list.base_), at_(list.at_), end_(list.end_), left_(list.count_) {
      if (left_ > 0) read();
    }
    void read() { at_ = read_item(base_, at_, end_, item_); }

    const std::byte* base_ = nullptr;
    const std::byte* at_ = nullptr;
    const std::byte* end_ = nullptr;
    std::uint64_t left_ = 0;
    Item item_;
  };

  List() = default;
  // Of decode.cpp.
  List(const std::byte* base, const std::byte* at, const std::byte* end, std::uint64_t count)
      : base_(base), at_(at), end_(end), count_(count) {}
  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }
  std::uint64_t size() const { return count_; }
  bool empty() const { return count_ == 0; }

  friend bool operator==(const List& a, const List& b) {
    if (a.count_ != b.count_) return false;
    Iterator other = b.begin();
    for (const Item& item : a) {
      if (!(item == *other)) return false;
      ++other;
    }
    return true;
  }

 private:
  const std::byte* base_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  std::uint64_t count_ = 0;
};

}  // namespace sluice::record
