#pragma once
// tests/unit/config/loading.h: load() from texts instead of a real command line.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include "config/load.h"

namespace sluice::config::test {

// Null-terminated, as main() gets it. The texts outlive it.
inline std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  out.push_back(nullptr);
  return out;
}

inline tl::expected<Loaded, std::vector<std::string>> load_from(std::vector<std::string> flags,
                                                                const std::vector<std::string>& environment = {}) {
  flags.insert(flags.begin(), "sluiced");
  return load(static_cast<int>(flags.size()), pointers(flags).data(), pointers(environment).data());
}

inline Loaded good(std::vector<std::string> flags, const std::vector<std::string>& environment = {}) {
  auto loaded = load_from(std::move(flags), environment);
  if (!loaded) {
    for (const std::string& error : loaded.error()) MESSAGE(error);
  }
  REQUIRE(loaded.has_value());
  return *loaded;
}

inline std::vector<std::string> errors(std::vector<std::string> flags,
                                       const std::vector<std::string>& environment = {}) {
  const auto loaded = load_from(std::move(flags), environment);
  REQUIRE_FALSE(loaded.has_value());
  REQUIRE_FALSE(loaded.error().empty());
  return loaded.error();
}

inline std::string only_error(std::vector<std::string> flags, const std::vector<std::string>& environment = {}) {
  const std::vector<std::string> all = errors(std::move(flags), environment);
  for (const std::string& error : all) CAPTURE(error);
  REQUIRE(all.size() == 1);
  return all.front();
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Any of the lines has every part.
inline bool has_line(const std::vector<std::string>& lines, const std::vector<std::string_view>& parts) {
  for (const std::string& line : lines) {
    bool all = true;
    for (const std::string_view part : parts) all = all && contains(line, part);
    if (all) return true;
  }
  return false;
}

inline const Origin& origin_of(const Loaded& loaded, std::string_view name) {
  for (const Origin& origin : loaded.origins) {
    if (origin.name == name) return origin;
  }
  FAIL("no origin of " << name);
  return loaded.origins.front();
}

// Gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-config-XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sluice::config::test
