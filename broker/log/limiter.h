#pragma once
// log/limiter.h: events that a peer can cause at will, at most so many a second of each name.
//
// Place    beside the Logger, wherever a refusal is logged.
// Shapes   what is left out is counted and told: by a field `suppressed` of the next line of that name, by tick(), or when the
//          limiter goes.
// Units    *_ms on the monotonic scale of the loop.
// Threads  one. Borrows the Logger, which outlives it.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "log/logger.h"

namespace sluice::log {

class Limiter {
 public:
  Limiter(Logger& logger, std::uint32_t lines_a_second);
  ~Limiter();
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;

  // REQUIRES: name is one of the program's own, not a peer's: each is remembered for good.
  void log(std::uint64_t now_ms, Level level, std::string_view component, std::string_view name,
           std::initializer_list<Field> fields = {});

  // Tells what was left out in seconds that are over, when no further line of the name came to tell it. Cheap; once a turn.
  void tick(std::uint64_t now_ms);

 private:
  struct Window {
    std::string component;
    Level level = Level::warn;
    std::uint64_t start_ms = 0;
    std::uint32_t lines = 0;
    std::uint64_t suppressed = 0;
  };

  void tell(const std::string& name, Window& window);
  static bool is_over(const Window& window, std::uint64_t now_ms);

  Logger& logger_;
  const std::uint32_t lines_max_;
  std::map<std::string, Window, std::less<>> windows_;
  std::uint64_t next_tick_ms_ = 0;
};

}  // namespace sluice::log
