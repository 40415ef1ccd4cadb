#include "cli/suggest.h"

#include <algorithm>

namespace sluice::cli {
namespace {

constexpr std::size_t kPrefixMin = 3;  // of an abbreviation that says what was meant

// Damerau-Levenshtein distance, the variant in which no part is edited twice.
std::size_t distance(std::string_view left, std::string_view right) {
  const std::size_t width = right.size() + 1;
  std::vector<std::size_t> cells((left.size() + 1) * width);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& { return cells[i * width + j]; };
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        cell(i, j) = i + j;
        continue;
      }
      const std::size_t replaced = cell(i - 1, j - 1) + (left[i - 1] == right[j - 1] ? 0 : 1);
      cell(i, j) = std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, replaced});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
    }
  }
  return cells.back();
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& known) {
  // Half of a short word wrong is another word.
  const std::size_t allowed = std::max<std::size_t>(1, typed.size() / 3);
  std::string best;
  std::size_t best_distance = allowed + 1;
  for (const std::string& word : known) {
    if (typed.size() >= kPrefixMin && std::string_view(word).starts_with(typed)) return word;
    const std::size_t found = distance(typed, word);
    if (found < best_distance) {
      best = word;
      best_distance = found;
    }
  }
  return best;
}

}  // namespace sluice::cli
