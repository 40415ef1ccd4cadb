#include "wire/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::wire {
namespace {

// What may follow a first byte: how many bytes in all, and the range of the second one. The range is what refuses
// overlong forms, surrogates and code points that are too large; all later bytes are 0x80 to 0xbf.
struct Sequence {
  std::size_t bytes;
  std::uint8_t second_min;
  std::uint8_t second_max;
};

constexpr Sequence kInvalid{0, 0, 0};

constexpr Sequence sequence_of(std::uint8_t first) {
  if (first >= 0xc2 && first <= 0xdf) return {2, 0x80, 0xbf};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {3, 0x80, 0xbf};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {4, 0x80, 0xbf};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return kInvalid;
}

std::size_t skip_ascii(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

bool valid_utf8(std::string_view text) {
  const auto byte_at = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const Sequence sequence = sequence_of(byte_at(at));
    if (sequence.bytes == 0 || text.size() - at < sequence.bytes) return false;
    if (byte_at(at + 1) < sequence.second_min || byte_at(at + 1) > sequence.second_max) return false;
    for (std::size_t i = 2; i < sequence.bytes; ++i) {
      if ((byte_at(at + i) & 0xc0) != 0x80) return false;
    }
    at += sequence.bytes;
  }
  return true;
}

}  // namespace sluice::wire
