// model_test: the engine against a plain model of it, driven by random commands.
//
//   model_test [--seed N] [--seeds N] [--steps N] [--minutes N] [--known FILE]
//
// Each seed is a configuration and kStepsOfSeed commands. The seeds of the file, which failed once, come first.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "driver.h"
#include "recorder.h"

namespace sluice::model {
namespace {

constexpr std::uint64_t kStepsOfSeed = 500;
constexpr std::uint64_t kWholeEvery = 16;
// Each so many-th seed has a journal behind the engine.
constexpr std::uint64_t kJournalEvery = 4;
// From so many steps on a corner that was never reached is a failure of the test.
constexpr std::uint64_t kLongRunSteps = 1'000'000;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 0;  // 0: not said
  std::uint64_t steps = 0;
  std::uint64_t minutes = 0;
  std::string known;
};

std::optional<std::uint64_t> number(const char* text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0') return std::nullopt;
  return value;
}

std::optional<Arguments> read_arguments(int count, char** texts) {
  Arguments arguments;
  bool seed_given = false;
  for (int i = 1; i < count; i += 2) {
    const std::string name = texts[i];
    if (i + 1 == count) return std::nullopt;
    if (name == "--known") {
      arguments.known = texts[i + 1];
      continue;
    }
    const std::optional<std::uint64_t> value = number(texts[i + 1]);
    if (!value) return std::nullopt;
    if (name == "--seed") {
      arguments.seed = *value;
      seed_given = true;
    } else if (name == "--seeds") {
      arguments.seeds = *value;
    } else if (name == "--steps") {
      arguments.steps = *value;
    } else if (name == "--minutes") {
      arguments.minutes = *value;
    } else {
      return std::nullopt;
    }
  }
  const bool bounded = arguments.seeds != 0 || arguments.steps != 0 || arguments.minutes != 0;
  if (!bounded) arguments.seeds = seed_given ? 1 : 100;
  return arguments;
}

// One seed a line; what follows it says why.
std::optional<std::vector<std::uint64_t>> read_known(const std::string& path) {
  std::vector<std::uint64_t> seeds;
  if (path.empty()) return seeds;
  std::ifstream file(path);
  if (!file) return std::nullopt;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::uint64_t seed = 0;
    if (!(std::istringstream(line) >> seed)) return std::nullopt;
    seeds.push_back(seed);
  }
  return seeds;
}

volatile std::sig_atomic_t seed_high = 0;
volatile std::sig_atomic_t seed_low = 0;

// A check of the engine's own aborts: by then only the seed can be told.
void tell_seed(int signal) {
  char text[96];
  const std::uint64_t seed =
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed_high)) << 32) | static_cast<std::uint32_t>(seed_low);
  const int length =
      std::snprintf(text, sizeof text, "\nmodel_test: the engine ended the process. Again: model_test --seed %llu\n",
                    static_cast<unsigned long long>(seed));
  if (length > 0 && write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// False: it failed, and was told.
bool run_seed(std::uint64_t seed, Corners& corners) {
  seed_high = static_cast<std::sig_atomic_t>(seed >> 32);
  seed_low = static_cast<std::sig_atomic_t>(seed & 0xffffffffU);
  Run run;
  run.seed = seed;
  run.steps = kStepsOfSeed;
  run.whole_every = kWholeEvery;
  run.journal = seed % kJournalEvery == 0;
  try {
    drive(run, corners);
    return true;
  } catch (const Mismatch& found) {
    std::printf("seed %llu, step %llu: %s\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(run.step), found.what());
  }
  // Once more, looking at everything after each turn.
  Corners ignored;
  run.whole_every = 1;
  run.trace = true;
  try {
    drive(run, ignored);
  } catch (const Mismatch& found) {
    std::printf("\nFirst seen at step %llu:\n%s\nThe last commands:\n", static_cast<unsigned long long>(run.step),
                found.what());
    for (const std::string& line : run.last) std::printf("  %s\n", line.c_str());
  }
  std::printf("\nAgain: model_test --seed %llu\n", static_cast<unsigned long long>(seed));
  return false;
}

bool tell_corners(const Corners& corners, bool all_needed) {
  bool reached = true;
  for (std::size_t i = 0; i < kCorners; ++i) {
    std::printf("  %-28.*s %12llu\n", static_cast<int>(kCornerNames[i].size()), kCornerNames[i].data(),
                static_cast<unsigned long long>(corners.counts[i]));
    if (corners.counts[i] != 0 || !all_needed) continue;
    std::printf("  never reached: %s\n", std::string(kCornerNames[i]).c_str());
    reached = false;
  }
  return reached;
}

int run_all(const Arguments& arguments, const std::vector<std::uint64_t>& known) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  Corners corners;
  std::uint64_t steps = 0;
  for (const std::uint64_t seed : known) {
    if (!run_seed(seed, corners)) return 1;
    steps += kStepsOfSeed;
  }
  for (std::uint64_t i = 0;; ++i) {
    if (arguments.seeds != 0 && i == arguments.seeds) break;
    if (arguments.steps != 0 && steps >= arguments.steps) break;
    if (arguments.minutes != 0 && seconds() >= 60.0 * static_cast<double>(arguments.minutes)) break;
    if (!run_seed(arguments.seed + i, corners)) return 1;
    steps += kStepsOfSeed;
  }
  const bool reached = tell_corners(corners, steps >= kLongRunSteps);
  std::printf("model_test: %llu steps in %.1f s, %.0f steps/s, %zu known seeds%s\n",
              static_cast<unsigned long long>(steps), seconds(), static_cast<double>(steps) / seconds(), known.size(),
              reached ? "" : "; corners were never reached");
  return reached ? 0 : 1;
}

}  // namespace
}  // namespace sluice::model

int main(int count, char** texts) {
  using namespace sluice::model;
  const std::optional<Arguments> arguments = read_arguments(count, texts);
  if (!arguments) {
    std::fprintf(stderr, "usage: model_test [--seed N] [--seeds N] [--steps N] [--minutes N] [--known FILE]\n");
    return 2;
  }
  const std::optional<std::vector<std::uint64_t>> known = read_known(arguments->known);
  if (!known) {
    std::fprintf(stderr, "model_test: cannot read %s\n", arguments->known.c_str());
    return 2;
  }
  std::signal(SIGABRT, tell_seed);
  std::signal(SIGSEGV, tell_seed);
  return run_all(*arguments, *known);
}
