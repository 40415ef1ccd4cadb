#pragma once
// fuzz/stable.h: what must hold for every input of a decoder: no crash, a reason for each refusal, and what decodes
// encodes to something that decodes to the same. Compared as bytes, because a map may hold NaN.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/codec.h"

namespace sluice::wire {

template <class Decode>
void check_stable(const std::uint8_t* data, std::size_t size, Decode decode) {
  // A copy of its own size: the sanitizer sees a read behind its end.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto decoded = decode(std::string_view(bytes));
  if (!decoded) {
    SLUICE_CHECK(!decoded.error().text.empty());
    SLUICE_CHECK(decoded.error().message_count <= size);
    return;
  }
  Buffer once;
  encode(*decoded, once);
  SLUICE_CHECK(once.size() <= 3 * size + 16);
  const auto again = decode(once.view());
  SLUICE_CHECK(again.has_value());
  Buffer twice;
  encode(*again, twice);
  SLUICE_CHECK(once.view() == twice.view());
}

}  // namespace sluice::wire
