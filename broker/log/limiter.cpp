#include "log/limiter.h"

#include <vector>

namespace sluice::log {
namespace {

constexpr std::uint64_t kWindowMs = 1'000;

}  // namespace

Limiter::Limiter(Logger& logger, std::uint32_t lines_a_second) : logger_(logger), lines_max_(lines_a_second) {}

Limiter::~Limiter() {
  for (auto& [name, window] : windows_) tell(name, window);
}

bool Limiter::is_over(const Window& window, std::uint64_t now_ms) { return now_ms >= window.start_ms + kWindowMs; }

void Limiter::log(std::uint64_t now_ms, Level level, std::string_view component, std::string_view name,
                  std::initializer_list<Field> fields) {
  if (!logger_.is_on(level)) return;
  auto found = windows_.find(name);
  if (found == windows_.end())
    found = windows_.emplace(name, Window{std::string(component), level, now_ms, 0, 0}).first;
  Window& window = found->second;
  if (is_over(window, now_ms)) {
    window.start_ms = now_ms;
    window.lines = 0;
  }
  if (window.lines == lines_max_) {
    ++window.suppressed;
    return;
  }
  ++window.lines;
  if (window.suppressed == 0) {
    logger_.log(level, component, name, fields);
    return;
  }
  std::vector<Field> all(fields);
  all.emplace_back("suppressed", window.suppressed);
  window.suppressed = 0;
  logger_.write(level, component, name, all);
}

void Limiter::tick(std::uint64_t now_ms) {
  if (now_ms < next_tick_ms_) return;
  next_tick_ms_ = now_ms + kWindowMs;
  for (auto& [name, window] : windows_) {
    if (is_over(window, now_ms)) tell(name, window);
  }
}

void Limiter::tell(const std::string& name, Window& window) {
  if (window.suppressed == 0) return;
  logger_.log(window.level, window.component, name, {{"suppressed", window.suppressed}});
  window.suppressed = 0;
}

}  // namespace sluice::log
