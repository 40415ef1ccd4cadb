#pragma once
// journal/window.h: reads a file forward in big chunks and gives out views into them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "io/disk.h"

namespace sluice::journal {

class Window {
 public:
  // `file_bytes`: no chunk needs to be larger.
  Window(io::File& file, std::uint64_t file_bytes)
      : file_(file), chunk_bytes_(static_cast<std::size_t>(std::min<std::uint64_t>(file_bytes, 1 << 20))) {}

  // Valid until the next call; shorter only at the end of the file.
  io::IoResult<std::span<const std::byte>> at(std::uint64_t offset, std::size_t bytes) {
    if (offset < begin_ || offset + bytes > begin_ + filled_) {
      if (auto done = fill(offset, bytes); !done) return tl::unexpected(done.error());
    }
    const auto from = static_cast<std::size_t>(offset - begin_);
    return std::span<const std::byte>(buffer_).subspan(from, std::min(bytes, filled_ - from));
  }

 private:
  // What is there already behind `offset` is moved to the front, not read again.
  io::IoResult<void> fill(std::uint64_t offset, std::size_t bytes) {
    std::size_t kept = 0;
    if (offset >= begin_ && offset < begin_ + filled_) {
      kept = static_cast<std::size_t>(begin_ + filled_ - offset);
      std::memmove(buffer_.data(), buffer_.data() + (filled_ - kept), kept);
    }
    if (buffer_.size() < std::max(bytes, chunk_bytes_)) buffer_.resize(std::max(bytes, chunk_bytes_));
    begin_ = offset;
    filled_ = kept;
    const auto got = file_.read(offset + kept, std::span(buffer_).subspan(kept));
    if (!got) return tl::unexpected(got.error());
    filled_ += *got;
    return {};
  }

  io::File& file_;
  const std::size_t chunk_bytes_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace sluice::journal
