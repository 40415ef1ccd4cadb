#include "world.h"

#include <algorithm>
#include <cstdio>

namespace sluice::sim {

World::World(std::uint64_t seed, bool trace_text) : trace(trace_text), seed_(seed) {}

void World::at(std::uint64_t us, Event event) {
  events_.push_back({std::max(us, now_us_), order_++, std::move(event)});
  std::push_heap(events_.begin(), events_.end(), later);
}

void World::run_next() {
  std::pop_heap(events_.begin(), events_.end(), later);
  Entry entry = std::move(events_.back());
  events_.pop_back();
  skip_to(entry.at_us);
  entry.event();
}

void World::fail(std::string_view property, const std::string& text) const {
  throw Violation(std::string(property) + ": " + text);
}

void World::tell(const std::string& text) {
  if (!trace.wants_text()) return;
  char time[32];
  std::snprintf(time, sizeof time, "%11.6f  ", static_cast<double>(now_us_ - 1'000 * kSecond) / 1e6);
  trace.line(time + text);
}

}  // namespace sluice::sim
