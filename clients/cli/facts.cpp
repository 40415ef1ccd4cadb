#include "cli/facts.h"

#include <algorithm>

#include "base/units.h"

namespace sluice::cli {
namespace {

std::string without(const std::string& key, std::string_view suffix) {
  return key.ends_with(suffix) ? key.substr(0, key.size() - suffix.size()) : key;
}

}  // namespace

void Facts::add_duration(const std::string& key, std::uint64_t milliseconds) {
  if (out_.terminal()) {
    add(without(key, "_ms"), format_duration_ms(milliseconds));
  } else {
    add(key, milliseconds);
  }
}

void Facts::add_size(const std::string& key, std::uint64_t bytes) {
  if (out_.terminal()) {
    add(without(key, "_bytes"), format_bytes(bytes));
  } else {
    add(key, bytes);
  }
}

void Facts::print() const {
  std::size_t width = 0;
  for (const auto& [key, value] : lines_) width = std::max(width, key.size());
  for (const auto& [key, value] : lines_) {
    if (out_.terminal()) {
      out_.line(out_.heading(key) + std::string(width - key.size() + 2, ' ') + value);
    } else {
      out_.line(key + "\t" + value);
    }
  }
}

}  // namespace sluice::cli
