#include "engine/timer_wheel.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>
#include <memory>
#include <vector>

namespace sluice::engine {
namespace {

struct Timer : TimerNode {
  int number = 0;
};

// Times near the wheel's own, around the borders of its levels, and far away.
rc::Gen<std::uint64_t> distances() {
  return rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 70), rc::gen::inRange<std::uint64_t>(4'000, 4'200),
                        rc::gen::inRange<std::uint64_t>(0, 1'000'000),
                        rc::gen::inRange<std::uint64_t>(315'000'000'000, 315'360'000'000));
}

TEST_CASE("timer wheel: agrees with a sorted map on what is due, in which order, and on when the next one is") {
  const bool holds = rc::check([] {
    TimerWheel<Timer> wheel;
    std::multimap<std::uint64_t, Timer*> model;
    std::vector<std::unique_ptr<Timer>> timers;
    std::uint64_t now = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
    wheel.advance(now, 1, [](Timer&) {});
    const auto steps = *rc::gen::inRange(1, 60);
    for (int step = 0; step < steps; ++step) {
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
        case 1: {
          timers.push_back(std::make_unique<Timer>());
          Timer& timer = *timers.back();
          const std::uint64_t when = now + *distances();
          wheel.set(timer, when);
          model.emplace(when, &timer);
          break;
        }
        case 2: {
          if (model.empty()) break;
          auto victim = std::next(model.begin(), *rc::gen::inRange<long>(0, static_cast<long>(model.size())));
          wheel.cancel(*victim->second);
          model.erase(victim);
          break;
        }
        default: {
          now += *distances();
          std::uint64_t last = 0;
          std::size_t fired = 0;
          const bool more = wheel.advance(now, timers.size() + 1, [&](Timer& timer) {
            RC_ASSERT(timer.when_ms <= now);
            RC_ASSERT(timer.when_ms >= last);
            last = timer.when_ms;
            ++fired;
          });
          RC_ASSERT(!more);
          const auto end = model.upper_bound(now);
          RC_ASSERT(fired == static_cast<std::size_t>(std::distance(model.begin(), end)));
          model.erase(model.begin(), end);
        }
      }
      const auto next = wheel.next_ms();
      RC_ASSERT(next.has_value() == !model.empty());
      if (next) RC_ASSERT(*next <= model.begin()->first);
    }
  });
  CHECK(holds);
}

TEST_CASE("timer wheel: a limit leaves the rest for the next call") {
  TimerWheel<Timer> wheel;
  std::vector<Timer> timers(10);
  for (Timer& timer : timers) wheel.set(timer, 5);
  std::size_t fired = 0;
  CHECK(wheel.advance(7, 4, [&](Timer&) { ++fired; }));
  CHECK(fired == 4);
  CHECK_FALSE(wheel.advance(7, 100, [&](Timer&) { ++fired; }));
  CHECK(fired == 10);
}

TEST_CASE("timer wheel: a time that has passed is due at the next call") {
  TimerWheel<Timer> wheel;
  wheel.advance(1'000, 1, [](Timer&) {});
  Timer timer;
  wheel.set(timer, 10);
  std::size_t fired = 0;
  wheel.advance(1'000, 1, [&](Timer&) { ++fired; });
  CHECK(fired == 1);
}

TEST_CASE("timer wheel: the largest time is far away, not in the past") {
  TimerWheel<Timer> wheel;
  wheel.advance(5'000, 1, [](Timer&) {});
  Timer timer;
  wheel.set(timer, ~std::uint64_t{0});
  wheel.advance(1ULL << 60, 1, [](Timer&) { FAIL("early"); });
  wheel.cancel(timer);
  CHECK_FALSE(wheel.next_ms().has_value());
}

}  // namespace
}  // namespace sluice::engine
