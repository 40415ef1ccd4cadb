#pragma once
// record/samples.h: what the tests of this folder share: bytes as text, whole decodes, and random records.

#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "record/decode.h"
#include "record/encode.h"

namespace sluice::record {

inline constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string to_string(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Each record, and "<offset>: <error>" if there was one. The records are views into `bytes`.
struct Decoded {
  std::vector<Record> records;
  std::string error;
};
Decoded decode(std::string_view bytes);

// The bytes that writing them gives.
std::string encode(const std::vector<Record>& records);

// One record of each type, with numbers of one to ten bytes.
std::string sample_bytes();

// Random records. The texts of what it made live as long as it does.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  bool flip() { return below(2) == 0; }
  // Beside the borders of LEB128 half of the time.
  std::uint64_t number();
  // At least 1, and first + count - 1 fits.
  std::uint64_t count_from(std::uint64_t first);
  std::string_view text();
  Counts counts();
  Copy copy();
  PublishedMessage published_message();
  Policy policy();
  Queue queue();
  Producer producer();
  RefusedRange refused_range();
  // Any but Published and Message, whose lists only a reader makes.
  Record plain();

 private:
  std::mt19937_64 engine_;
  std::deque<std::string> kept_;
};

}  // namespace sluice::record
