#pragma once
// record/fields.h: reads the fields of one record, none past its end.
//
// Place    only inside record: bytes -> [fields] -> decode.cpp.
// Shapes   every read takes the field's name, for the error's text. After the first failure all reads give 0 or nothing, so that
//          callers look at failed() once, at their end; loops look each time.
// Threads  one.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "record/record.h"

namespace sluice::record {

class Fields {
 public:
  // `base`: what offsets count from.
  Fields(const std::byte* base, const std::byte* at, const std::byte* end) : base_(base), at_(at), end_(end) {}

  const std::byte* at() const { return at_; }
  const std::byte* base() const { return base_; }
  const std::byte* end() const { return end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool failed() const { return rule_ != nullptr; }
  // REQUIRES: failed().
  std::string failure() const;

  std::uint8_t u8(const char* field) {
    if (at_ == end_) [[unlikely]]
      return static_cast<std::uint8_t>(stop(field, kEnds));
    return std::to_integer<std::uint8_t>(*at_++);
  }

  std::uint64_t u32(const char* field) { return fixed(field, 4); }

  double f64(const char* field) {
    const double number = std::bit_cast<double>(fixed(field, 8));
    if (!std::isfinite(number)) stop(field, "must be a finite number");
    return number;
  }

  std::uint64_t n(const char* field) {
    if (at_ != end_ && std::to_integer<std::uint8_t>(*at_) < 0x80) [[likely]]
      return std::to_integer<std::uint8_t>(*at_++);
    return long_n(field);
  }

  std::string_view s(const char* field) { return bytes(field, n(field)); }

  std::string_view bytes(const char* field, std::uint64_t count) {
    if (count > left()) [[unlikely]] {
      stop(field, "goes past the end of the record, bytes", count);
      return {};
    }
    const std::string_view view(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(count));
    at_ += count;
    return view;
  }

  // A number that names something: from `min` to `max`.
  template <class Enum>
  Enum choice(const char* field, Enum min, Enum max) {
    const std::uint8_t value = u8(field);
    if (value < static_cast<std::uint8_t>(min) || value > static_cast<std::uint8_t>(max)) [[unlikely]] {
      stop(field, "is none that is known:", value);
      return min;
    }
    return static_cast<Enum>(value);
  }

  std::uint8_t flags(const char* field, std::uint8_t known) {
    const std::uint8_t value = u8(field);
    if ((value & ~known) != 0) [[unlikely]]
      stop(field, "has a bit that is not known:", value);
    return value;
  }

  std::uint8_t priority(const char* field) {
    const std::uint8_t value = u8(field);
    if (value > kPriorityMax) [[unlikely]]
      stop(field, "must be at most 9, is", value);
    return value;
  }

  // How many things a range has that begins at `first`: at least one, and none above 2^64-1.
  std::uint64_t range(const char* field, std::uint64_t first) {
    const std::uint64_t count = n(field);
    check_range(field, first, count);
    return count;
  }
  void check_range(const char* field, std::uint64_t first, std::uint64_t count) {
    if (count == 0) [[unlikely]]
      stop(field, "must be at least 1");
    if (count - 1 > UINT64_MAX - first) [[unlikely]]
      stop(field, "makes numbers above 2^64-1:", count);
  }

  // How many items of at least `item_bytes` follow.
  std::uint64_t items(const char* field, std::uint64_t count, std::size_t item_bytes) {
    if (count > left() / item_bytes) [[unlikely]]
      return stop(field, "is more than the record can hold:", count);
    return count;
  }

  void finish() {
    if (at_ != end_) [[unlikely]]
      stop("fields", "end before the record does; bytes left over:", left());
  }

  // Both keep the first failure, and give 0.
  [[gnu::cold]] std::uint64_t stop(const char* field, const char* rule);
  [[gnu::cold]] std::uint64_t stop(const char* field, const char* rule, std::uint64_t value);

 private:
  static constexpr const char* kEnds = "the record ends before it";

  std::uint64_t long_n(const char* field);
  std::uint64_t fixed(const char* field, std::size_t count) {
    if (count > left()) [[unlikely]]
      return stop(field, kEnds);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < count; ++i) number |= std::to_integer<std::uint64_t>(at_[i]) << (8 * i);
    at_ += count;
    return number;
  }

  const std::byte* base_;
  const std::byte* at_;
  const std::byte* end_;
  const char* field_ = nullptr;
  const char* rule_ = nullptr;
  std::uint64_t value_ = 0;
  bool has_value_ = false;
};

}  // namespace sluice::record
