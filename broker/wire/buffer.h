#pragma once
// wire/buffer.h: bytes of one frame being written, with room in front for a head that is known last.
//
// Owns     its bytes; moves, does not copy.
// Threads  one at a time; may be handed from one to another.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace sluice::wire {

class Buffer {
 public:
  // `headroom` bytes are kept free in front, for prepend().
  explicit Buffer(std::size_t headroom = 0) : headroom_(headroom) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(block_); }

  void write(const char* bytes, std::size_t count) { std::memcpy(extend(count), bytes, count); }
  void append(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  // Room for `count` more bytes at the end, to be filled by the caller.
  char* extend(std::size_t count) {
    if (count > capacity_ - end_) grow(count);
    char* const place = block_ + end_;
    end_ += count;
    return place;
  }
  // Makes room for `count` more bytes at once, for a caller who knows about how many will come.
  void reserve(std::size_t count) {
    if (count > capacity_ - end_) grow(count);
  }
  // Gives back the last `count` bytes that extend() added and that were not filled.
  void shrink(std::size_t count) { end_ -= count; }
  // Puts bytes in front. REQUIRES: they fit in what is left of the headroom.
  void prepend(std::string_view bytes) {
    begin_ -= bytes.size();
    std::memcpy(block_ + begin_, bytes.data(), bytes.size());
  }

  std::string_view view() const { return {block_ + begin_, end_ - begin_}; }
  std::size_t size() const { return end_ - begin_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return begin_ == end_; }
  void clear() { begin_ = end_ = block_ == nullptr ? 0 : headroom_; }

  void swap(Buffer& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(capacity_, other.capacity_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(headroom_, other.headroom_);
  }

  // Hands the allocated block to the caller, who frees it with std::free; view() stays valid until then. For sending
  // without a copy. The buffer is empty afterwards.
  void* release() {
    void* const block = block_;
    block_ = nullptr;
    capacity_ = begin_ = end_ = 0;
    return block;
  }

 private:
  void grow(std::size_t count) {
    const bool fresh = block_ == nullptr;
    const std::size_t used = fresh ? headroom_ : end_;
    std::size_t capacity = capacity_ < 256 ? 256 : capacity_ * 2;
    while (capacity < used + count) capacity *= 2;
    void* const block = std::realloc(block_, capacity);
    if (block == nullptr) throw std::bad_alloc();
    block_ = static_cast<char*>(block);
    capacity_ = capacity;
    if (fresh) begin_ = end_ = headroom_;
  }

  char* block_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t headroom_ = 0;
};

}  // namespace sluice::wire
