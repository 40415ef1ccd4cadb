#pragma once
// wire/tape.h: one MessagePack value as a flat row of tokens, checked once against every limit.
//
// Place    bytes -> [tape] -> cursor -> frame. Everything behind the tape may trust it: it is complete, and each
//          container is followed by exactly the tokens of what it holds.
// Owns     its tokens, not the bytes they point into. scan() reuses the room of the scan before.
// Bounds   16 bytes a token, at most kValuesMax tokens; depth at most kDepthMax; never more tokens than bytes.
// Threads  one at a time.
// Source   spec/protocol.md section 3.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sluice::wire {

// Positive integers are `uint` whatever their format; float32 became `real`.
enum class Kind : std::uint8_t { nil, boolean, uint, negative, real, str, bin, array, map };

struct Token {
  Kind kind = Kind::nil;
  // Bytes of str and bin, elements of an array, pairs of a map.
  std::uint32_t count = 0;
  union {
    std::uint64_t number = 0;  // boolean (0, 1), uint, negative (two's complement)
    double real;
    const char* data;  // str, bin
  };

  std::string_view view() const { return {data, count}; }
  // How many values follow this token as its children.
  std::uint64_t children() const {
    if (kind == Kind::array) return count;
    return kind == Kind::map ? std::uint64_t{2} * count : 0;
  }
};
static_assert(sizeof(Token) == 16);

enum class ScanError : std::uint8_t {
  none,
  empty,            // no bytes at all
  truncated,        // the bytes end inside a value, or a container states more than the bytes left could hold
  trailing,         // bytes after the value
  bad_format,       // 0xc1
  ext,              // extension types are no part of the protocol
  too_many_values,  // kValuesMax
  too_deep,         // kDepthMax
};

class Tape {
 public:
  // One value and nothing after it. After an error tokens() are those that were read before it.
  ScanError scan(std::string_view bytes);
  std::span<const Token> tokens() const { return {room_.data(), size_}; }

  // The position behind the value at `at`; tokens().size() when the tape ends inside it.
  std::size_t skip(std::size_t at) const;

 private:
  std::vector<Token> room_;
  std::size_t size_ = 0;  // tokens in use: room_ only grows, and is not cleared between scans
};

}  // namespace sluice::wire
