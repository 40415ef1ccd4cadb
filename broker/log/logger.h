#pragma once
// log/logger.h: says what happened, as lines on stderr.
//
// Place    made in main, handed by reference to whoever logs; there is no global one.
// Shapes   log.info("session", "session_opened", {{"session", id}, {"client", name}}). Never payloads, never secrets.
// Threads  any.
// Owns     its sink. Not copied, not moved.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "log/field.h"
#include "log/line.h"

namespace spdlog {
class logger;
namespace sinks {
class sink;
}
}  // namespace spdlog

namespace sluice::log {

enum class Format : std::uint8_t { json, text, coloured_text };

// What to use on stderr when nothing was asked for: JSON off a terminal; text on one, coloured unless NO_COLOR is set.
Format automatic_format();
// Text was asked for: coloured under the same conditions.
Format text_format();

class Logger {
 public:
  // ns since 1970.
  using WallClock = std::function<std::int64_t()>;

  // To stderr.
  Logger(Level least, Format format);
  // Elsewhere, and with another clock: for tests and the simulator.
  Logger(Level least, Format format, std::shared_ptr<spdlog::sinks::sink> sink, WallClock clock);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  bool is_on(Level level) const { return level >= least_; }

  void debug(std::string_view component, std::string_view name, std::initializer_list<Field> fields = {}) {
    log(Level::debug, component, name, fields);
  }
  void info(std::string_view component, std::string_view name, std::initializer_list<Field> fields = {}) {
    log(Level::info, component, name, fields);
  }
  void warn(std::string_view component, std::string_view name, std::initializer_list<Field> fields = {}) {
    log(Level::warn, component, name, fields);
  }
  void error(std::string_view component, std::string_view name, std::initializer_list<Field> fields = {}) {
    log(Level::error, component, name, fields);
  }

  // A level that is off costs the comparison; fields that are dear to make are guarded with is_on().
  void log(Level level, std::string_view component, std::string_view name, std::initializer_list<Field> fields) {
    if (is_on(level)) write(level, component, name, {fields.begin(), fields.size()});
  }
  void write(Level level, std::string_view component, std::string_view name, Fields fields);

 private:
  const Level least_;
  const Format format_;
  const WallClock clock_;
  const std::unique_ptr<spdlog::logger> out_;
};

}  // namespace sluice::log
