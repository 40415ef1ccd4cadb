#pragma once
// cli/facts.h: one thing's facts, a line each: "name: value" on a terminal, tab-separated in a pipe.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/output.h"

namespace sluice::cli {

class Facts {
 public:
  explicit Facts(Output& out) : out_(out) {}
  void add(const std::string& key, const std::string& value) { lines_.emplace_back(key, value); }
  void add(const std::string& key, std::uint64_t value) { add(key, std::to_string(value)); }
  // With its unit on a terminal; as milliseconds or bytes in a pipe, where the key says so (`age_ms`).
  void add_duration(const std::string& key, std::uint64_t milliseconds);
  void add_size(const std::string& key, std::uint64_t bytes);
  void print() const;

 private:
  Output& out_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace sluice::cli
