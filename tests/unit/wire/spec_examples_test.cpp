// The last section of spec/protocol.md against spec/vectors/examples.json.

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "vector_file.h"

using namespace sluice::wire;

namespace {

std::string without_spaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ') out += c;
  }
  return out;
}

// Hex of each example, by the name of its frame. A line "    C: HELLO of ..." begins one; the bytes are left of the bars.
std::map<std::string, std::string> printed_examples() {
  std::ifstream in(SLUICE_SOURCE_DIR "/spec/protocol.md");
  std::map<std::string, std::string> out;
  std::string line;
  std::string name;
  bool inside = false;
  while (std::getline(in, line)) {
    if (line.starts_with("## ")) inside = line == "## 12. Examples in bytes";
    if (!inside) continue;
    if (line.starts_with("    C: ") || line.starts_with("    B: ")) {
      name = line.substr(7, line.find_first_of(" :", 7) - 7);
    } else if (const std::size_t bar = line.find('|'); bar != std::string::npos) {
      out[name] += without_spaces(line.substr(0, bar));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("spec: the examples in the text are the vectors of that name, and all of them") {
  std::map<std::string, std::string> expected;
  for (const Vector& vector : read_vectors()) {
    if (vector.file == "examples.json")
      expected[vector.name.substr(std::string("example: ").size())] = to_hex(vector.bytes);
  }
  CHECK(expected.size() >= 8);
  CHECK(printed_examples() == expected);
}
