#include "log/logger.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace sluice::log {
namespace {

std::int64_t system_wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

// no-color.org: set and not empty.
bool colours_unwanted() {
  const char* const no_color = std::getenv("NO_COLOR");
  return no_color != nullptr && *no_color != '\0';
}

}  // namespace

Format automatic_format() { return stderr_is_terminal() ? text_format() : Format::json; }

Format text_format() { return stderr_is_terminal() && !colours_unwanted() ? Format::coloured_text : Format::text; }

Logger::Logger(Level least, Format format)
    : Logger(least, format, std::make_shared<spdlog::sinks::stderr_sink_mt>(), system_wall_ns) {}

Logger::Logger(Level least, Format format, std::shared_ptr<spdlog::sinks::sink> sink, WallClock clock)
    : least_(least),
      format_(format),
      clock_(std::move(clock)),
      out_(std::make_unique<spdlog::logger>("sluice", std::move(sink))) {
  // The whole line is ours (line.h): a pattern of spdlog's could not escape.
  out_->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
  out_->set_level(spdlog::level::trace);
}

Logger::~Logger() = default;

void Logger::write(Level level, std::string_view component, std::string_view name, Fields fields) {
  const Event event{clock_(), level, component, name, fields};
  const std::string line =
      format_ == Format::json ? json_line(event) : text_line(event, format_ == Format::coloured_text);
  out_->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace sluice::log
