#pragma once
// sim/trace.h: a hash over everything that happened, in order; and, when asked for, the last lines of it as text.
//
// The same seed and commit give the same hash. A run that failed is run once more with text.

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

namespace sluice::sim {

class Trace {
 public:
  explicit Trace(bool text) : text_(text) {}

  void mix(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9fb21c651e98df25ULL;
    hash_ ^= hash_ >> 32;
  }
  void mix(std::string_view bytes) {
    mix(bytes.size());
    while (bytes.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      mix(word);
      bytes.remove_prefix(8);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    mix(rest);
  }
  bool wants_text() const { return text_; }
  void line(std::string text) {
    lines_.push_back(std::move(text));
    if (lines_.size() > lines_max) lines_.pop_front();
  }
  std::uint64_t hash() const { return hash_; }
  const std::deque<std::string>& lines() const { return lines_; }

  static inline std::size_t lines_max = 200;  // those before them are forgotten

 private:
  bool text_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::deque<std::string> lines_;
};

}  // namespace sluice::sim
