#pragma once
// record/buffer.h: bytes that grow at the end and are not cleared first.
//
// Owns     its bytes; moves, does not copy. clear() keeps the room.
// Threads  one.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace sluice::record {

class Buffer {
 public:
  // Room for at least `bytes` more, without adding them. What is written there counts after commit().
  std::byte* room(std::size_t bytes) {
    if (bytes > capacity_ - size_) [[unlikely]]
      grow(bytes);
    return block_.get() + size_;
  }
  // `end`: behind the last byte written into the room.
  void commit(const std::byte* end) { size_ = static_cast<std::size_t>(end - block_.get()); }

  std::byte* data() { return block_.get(); }
  std::span<const std::byte> bytes() const { return {block_.get(), size_}; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kFirstBytes = 4096;

  void grow(std::size_t bytes) {
    const std::size_t capacity = std::max({kFirstBytes, capacity_ * 2, size_ + bytes});
    auto block = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ > 0) std::memcpy(block.get(), block_.get(), size_);
    block_ = std::move(block);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte[]> block_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace sluice::record
