#pragma once
// sim/world.h: the time of a simulation and what is to happen in it, in order of time and, at equal times, as it was set.
//
// Units    us; the broker sees ms.
// Errors   a property that does not hold is a Violation, which ends the run.
// Threads  one.

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/clock.h"
#include "random.h"
#include "reached.h"
#include "trace.h"

namespace sluice::sim {

constexpr std::uint64_t kMs = 1'000;
constexpr std::uint64_t kSecond = 1'000 * kMs;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

// A property of the specification that does not hold; its name first: "S4: ...".
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class World {
 public:
  using Event = std::function<void()>;

  World(std::uint64_t seed, bool trace_text);

  std::uint64_t now_us() const { return now_us_; }
  std::uint64_t wall_us() const { return now_us_ + wall_ahead_us_; }
  // Wall time is set; running timers must not care.
  void step_wall(std::int64_t us) { wall_ahead_us_ += static_cast<std::uint64_t>(us); }
  // Time that work takes. What becomes due meanwhile happens late.
  void pass(std::uint64_t us) { now_us_ += us; }

  void at(std::uint64_t us, Event event);
  void after(std::uint64_t us, Event event) { at(now_us_ + us, std::move(event)); }
  std::uint64_t next_us() const { return events_.empty() ? kNever : events_.front().at_us; }
  // REQUIRES: next_us() is not kNever.
  void run_next();
  // Up to that time there is nothing to do.
  void skip_to(std::uint64_t us) {
    if (us > now_us_) now_us_ = us;
  }

  Random stream(std::uint64_t salt) const { return Random(seed_, salt); }
  void hit(Mark mark, std::uint64_t times = 1) { reached.hit(mark, times); }
  [[noreturn]] void fail(std::string_view property, const std::string& text) const;
  void tell(const std::string& text);  // a line of the trace, if it is wanted

  Trace trace;
  Reached reached;
  std::uint64_t operations = 0;  // messages sent, delivered and settled, and requests

 private:
  struct Entry {
    std::uint64_t at_us;
    std::uint64_t order;
    Event event;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.at_us != b.at_us ? a.at_us > b.at_us : a.order > b.order;
  }

  std::uint64_t seed_;
  std::uint64_t now_us_ = 1'000 * kSecond;
  std::uint64_t wall_ahead_us_ = 1'700'000'000 * kSecond;
  std::uint64_t order_ = 0;
  std::vector<Entry> events_;  // a heap
};

// What the broker sees of it. Each look at the clock takes a moment.
class SimClock final : public io::Clock {
 public:
  explicit SimClock(World& world) : world_(world) {}
  io::Time now() override {
    world_.pass(1);
    return {world_.now_us() / kMs, world_.wall_us() / kMs};
  }
  std::uint64_t steady_ms_up() override {
    world_.pass(1);
    return (world_.now_us() + kMs - 1) / kMs;
  }

 private:
  World& world_;
};

}  // namespace sluice::sim
