#include "vector_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace sluice::wire {
namespace {

using Json = nlohmann::ordered_json;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::runtime_error("not a hex digit: " + std::string(1, c));
}

std::string bytes_of(const Json& entry) {
  if (entry.contains("hex")) return from_hex(entry.at("hex"));
  std::string out;
  for (const Json& part : entry.at("parts")) {
    const std::string once = from_hex(part.at("hex"));
    for (std::size_t i = part.at("times").get<std::size_t>(); i > 0; --i) out += once;
  }
  return out;
}

bool direction_is_broker(const std::string& direction) {
  if (direction != "to_broker" && direction != "to_client") throw std::runtime_error("direction " + direction);
  return direction == "to_broker";
}

std::optional<std::uint64_t> number(const Json& entry, const char* key) {
  if (!entry.contains(key)) return std::nullopt;
  return entry.at(key).get<std::uint64_t>();
}

Vector vector_of(const Json& entry, const std::string& file) {
  Vector out;
  out.file = file;
  out.name = entry.at("name");
  out.to_broker = direction_is_broker(entry.at("direction"));
  out.bytes = bytes_of(entry);
  if (entry.contains("frame")) {
    out.frame = entry.at("frame");
    out.canonical = entry.at("canonical");
  } else {
    out.error = entry.at("error");
    out.text = entry.value("text", "");
    out.request = number(entry, "request");
    out.first_sequence = number(entry, "first_sequence");
    out.message_count = number(entry, "message_count").value_or(0);
  }
  return out;
}

}  // namespace

std::string from_hex(const std::string& hex) {
  if (hex.size() % 2 != 0) throw std::runtime_error("hex of an odd length");
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return out;
}

std::string to_hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::vector<Vector> read_vectors() {
  std::vector<std::filesystem::path> paths;
  for (const auto& item : std::filesystem::directory_iterator(SLUICE_VECTORS_DIR)) {
    if (item.path().extension() == ".json") paths.push_back(item.path());
  }
  std::ranges::sort(paths);
  std::vector<Vector> out;
  for (const std::filesystem::path& path : paths) {
    try {
      std::ifstream in(path);
      for (const Json& entry : Json::parse(in)) out.push_back(vector_of(entry, path.filename().string()));
    } catch (const std::exception& error) {
      throw std::runtime_error(path.string() + ": " + error.what());
    }
  }
  return out;
}

}  // namespace sluice::wire
