#pragma once
// cli/suggest.h: the word that was probably meant.

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

// A known word that begins with what was typed, or the nearest one, if it is near enough to be a typing error (letters added, left
// out, replaced or swapped); else empty.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

}  // namespace sluice::cli
