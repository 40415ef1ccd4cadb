#include "record/fields.h"

namespace sluice::record {

std::string Fields::failure() const {
  std::string text = std::string(field_) + ": " + rule_;
  if (has_value_) text += " " + std::to_string(value_);
  return text;
}

std::uint64_t Fields::stop(const char* field, const char* rule) {
  if (failed()) return 0;
  field_ = field;
  rule_ = rule;
  at_ = end_;
  return 0;
}

std::uint64_t Fields::stop(const char* field, const char* rule, std::uint64_t value) {
  if (failed()) return 0;
  value_ = value;
  has_value_ = true;
  return stop(field, rule);
}

std::uint64_t Fields::long_n(const char* field) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; at_ != end_; shift += 7) {
    const auto byte = std::to_integer<std::uint8_t>(*at_++);
    if (shift == 63 && byte > 1) return stop(field, "is a number above 2^64-1");
    number |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte >= 0x80) continue;
    if (byte == 0 && shift > 0) return stop(field, "is a number that is not in its shortest form");
    return number;
  }
  return stop(field, kEnds);
}

}  // namespace sluice::record
