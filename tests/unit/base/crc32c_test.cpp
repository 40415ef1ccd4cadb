#include "base/crc32c.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using sluice::crc32c;
using sluice::crc32c_by_table;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::vector<std::byte> numbered(std::size_t count, std::size_t step, std::size_t first) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i * step);
  return bytes;
}

}  // namespace

TEST_CASE("crc32c: known vectors") {
  struct Vector {
    std::vector<std::byte> bytes;
    std::uint32_t crc;
  };
  const Vector vectors[] = {
      {{}, 0},
      {bytes_of("a"), 0xC1D04330},
      {bytes_of("123456789"), 0xE3069283},
      {std::vector<std::byte>(32, std::byte{0}), 0x8A9136AA},
      {std::vector<std::byte>(32, std::byte{0xFF}), 0x62A8AB43},
      {numbered(32, 1, 0), 0x46DD794E},
      {numbered(32, static_cast<std::size_t>(-1), 31), 0x113FDB5C},
  };
  for (const Vector& vector : vectors) {
    CHECK(crc32c(vector.bytes) == vector.crc);
    CHECK(crc32c_by_table(vector.bytes) == vector.crc);
  }
}

TEST_CASE("crc32c: instruction and table agree for every length and alignment") {
  const auto bytes = numbered(300, 37, 11);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t length = 0; begin + length <= bytes.size(); ++length) {
      const auto part = std::span(bytes).subspan(begin, length);
      REQUIRE(crc32c(part, 0x1234) == crc32c_by_table(part, 0x1234));
    }
  }
}

TEST_CASE("crc32c: parts one after the other are the whole") {
  const auto bytes = numbered(100, 7, 3);
  const auto whole = std::span(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
    REQUIRE(crc32c(whole.subspan(cut), crc32c(whole.first(cut))) == crc32c(whole));
}
