#pragma once
// vector_file.h: spec/vectors/*.json as values. The schema is in spec/vectors/README.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::wire {

struct Vector {
  std::string file;
  std::string name;
  bool to_broker = false;
  std::string bytes;
  nlohmann::ordered_json frame;  // null if the frame is invalid
  bool canonical = false;
  std::string error;  // empty if the frame is valid
  std::string text;   // part of the error's text, or empty
  std::optional<std::uint64_t> request;
  std::optional<std::uint64_t> first_sequence;
  std::uint64_t message_count = 0;
};

// Throws std::runtime_error, naming the file, if one cannot be read.
std::vector<Vector> read_vectors();

std::string from_hex(const std::string& hex);
std::string to_hex(const std::string& bytes);

}  // namespace sluice::wire
