#pragma once
// wire/cat.h: joins text and numbers into one string, for the texts of errors.
//
// (absl::StrCat of Debian 12 does not take std::string_view.)

#include <concepts>
#include <string>
#include <string_view>

namespace sluice::wire {

inline void cat_part(std::string& out, std::string_view part) { out += part; }
inline void cat_part(std::string& out, std::integral auto part) { out += std::to_string(part); }

template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (cat_part(out, parts), ...);
  return out;
}

}  // namespace sluice::wire
