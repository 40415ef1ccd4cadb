#pragma once
// tests/unit/log/recording.h: a Logger whose lines and clock a test holds.

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <spdlog/sinks/ostream_sink.h>
#include <nlohmann/json.hpp>

#include "log/logger.h"

namespace sluice::log::test {

class Recording {
 public:
  explicit Recording(Level least = Level::debug, Format format = Format::json)
      : logger(least, format, std::make_shared<spdlog::sinks::ostream_sink_mt>(text_), [this] { return wall_ns; }) {}

  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    std::istringstream in(text_.str());
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  // Throws if a line is no JSON.
  std::vector<nlohmann::json> events() const {
    std::vector<nlohmann::json> out;
    for (const std::string& line : lines()) out.push_back(nlohmann::json::parse(line));
    return out;
  }
  std::string text() const { return text_.str(); }

  std::int64_t wall_ns = 1'767'225'600'123'456'789;  // 2026-01-01T00:00:00.123456789Z

 private:
  std::ostringstream text_;

 public:
  Logger logger;
};

}  // namespace sluice::log::test
