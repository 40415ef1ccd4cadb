// sluice_sim: the broker in a simulated world, against the properties that it promises.
//
//   sluice_sim [--seed N] [--seeds N] [--minutes N] [--known FILE] [--need-all yes] [--trace yes] [--lines N]
//              [--mutant NAME] | --list-mutants
//
// Each seed is a world: who takes part, what they do, what goes wrong. The seeds of the file, which failed once, come first, and the
// first seed of a run is run twice: the same seed gives the same trace.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/mutant.h"
#include "run.h"

namespace sluice::sim {
namespace {

#ifndef SLUICE_COMMIT
#define SLUICE_COMMIT "unknown"
#endif

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 0;  // 0: not said
  std::uint64_t minutes = 0;
  std::string known;
  bool need_all = false;  // a fault or state that was never reached is a failure
  bool trace = false;     // the last lines, also when nothing failed
};

std::optional<std::uint64_t> number(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0') return std::nullopt;
  return value;
}

// False: there is none of that name, or none was built in.
bool choose_mutant([[maybe_unused]] const std::string& name) {
#ifdef SLUICE_MUTANTS
  const auto found = std::ranges::find(kMutants, name);
  if (found == kMutants.end()) return false;
  chosen_mutant = *found;
  return true;
#else
  std::fprintf(stderr, "sluice_sim: built without -DSLUICE_MUTANTS=ON\n");
  return false;
#endif
}

// `wrong`: what is not understood.
std::optional<Arguments> read_arguments(int count, char** texts, std::string& wrong) {
  Arguments arguments;
  bool seed_given = false;
  for (int i = 1; i < count; i += 2) {
    const std::string name = texts[i];
    wrong = name;
    if (i + 1 == count) return std::nullopt;
    const std::string text = texts[i + 1];
    wrong += " " + text;
    const std::optional<std::uint64_t> value = number(text);
    if (name == "--known") {
      arguments.known = text;
    } else if (name == "--mutant") {
      if (!choose_mutant(text)) return std::nullopt;
    } else if (name == "--need-all") {
      arguments.need_all = text == "yes";
    } else if (name == "--trace") {
      arguments.trace = text == "yes";
    } else if (!value) {
      return std::nullopt;
    } else if (name == "--seed") {
      arguments.seed = *value;
      seed_given = true;
    } else if (name == "--seeds") {
      arguments.seeds = *value;
    } else if (name == "--minutes") {
      arguments.minutes = *value;
    } else if (name == "--lines") {
      Trace::lines_max = *value;
    } else {
      return std::nullopt;
    }
  }
  if (arguments.seeds == 0 && arguments.minutes == 0) arguments.seeds = seed_given ? 1 : 200;
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

// A check of the broker's own aborts: by then only the seed can be told.
void tell_seed(int signal) {
  char text[128];
  const std::uint64_t seed =
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed_high)) << 32) | static_cast<std::uint32_t>(seed_low);
  const int length =
      std::snprintf(text, sizeof text, "\nsluice_sim: the broker ended the process. Again: ./dev sim --seed %llu\n",
                    static_cast<unsigned long long>(seed));
  if (length > 0 && write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Totals {
  Reached reached;
  std::uint64_t seeds = 0;
  std::uint64_t operations = 0;
  std::uint64_t simulated_us = 0;
};

void tell_failure(const Settings& settings, const std::string& violation) {
  std::printf("\nseed %llu: %s\n  %s\n  commit %s\n", static_cast<unsigned long long>(settings.seed), violation.c_str(),
              describe(settings).c_str(), SLUICE_COMMIT);
  const Outcome again = run(settings, true);
  std::printf("The last lines of its trace:\n");
  for (const std::string& line : again.trace) std::printf("  %s\n", line.c_str());
  if (again.violation != violation)
    std::printf("S27: run again it fails otherwise: %s\n",
                again.violation.empty() ? "not at all" : again.violation.c_str());
  std::printf("%s\nAgain: ./dev sim --seed %llu\n", violation.c_str(), static_cast<unsigned long long>(settings.seed));
}

// False: it failed, and was told.
bool run_seed(std::uint64_t seed, bool twice, bool trace, Totals& totals) {
  seed_high = static_cast<std::sig_atomic_t>(seed >> 32);
  seed_low = static_cast<std::sig_atomic_t>(seed & 0xffffffffU);
  const Settings settings = draw(seed);
  const Outcome outcome = run(settings, trace);
  totals.reached.add(outcome.reached);
  totals.seeds += 1;
  totals.operations += outcome.operations;
  totals.simulated_us += outcome.simulated_us;
  if (trace) {
    for (const std::string& line : outcome.trace) std::printf("  %s\n", line.c_str());
  }
  if (!outcome.violation.empty()) {
    tell_failure(settings, outcome.violation);
    return false;
  }
  if (!twice) return true;
  const Outcome again = run(settings, false);
  if (again.hash == outcome.hash && again.operations == outcome.operations) return true;
  std::printf("\nseed %llu: S27: run twice it gives two traces, %016llx and %016llx\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(outcome.hash),
              static_cast<unsigned long long>(again.hash));
  return false;
}

bool tell_reached(const Reached& reached, bool need_all) {
  bool all = true;
  for (std::size_t i = 0; i < kMarks; ++i) {
    if (i == 0) std::printf("faults made\n");
    if (i == kFaults) std::printf("states reached\n");
    std::printf("  %-28s %12llu\n", std::string(kMarkNames[i]).c_str(),
                static_cast<unsigned long long>(reached.counts[i]));
  }
  for (std::size_t i = 0; i < kMarks && need_all; ++i) {
    if (reached.counts[i] != 0) continue;
    std::printf("never reached: %s\n", std::string(kMarkNames[i]).c_str());
    all = false;
  }
  return all;
}

int run_all(const Arguments& arguments, const std::vector<std::uint64_t>& known) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  Totals totals;
  for (const std::uint64_t seed : known)
    if (!run_seed(seed, false, false, totals)) return 1;
  for (std::uint64_t i = 0;; ++i) {
    if (arguments.seeds != 0 && i == arguments.seeds) break;
    if (arguments.minutes != 0 && seconds() >= 60.0 * static_cast<double>(arguments.minutes)) break;
    if (!run_seed(arguments.seed + i, i == 0, arguments.trace, totals)) return 1;
  }
  const bool all = tell_reached(totals.reached, arguments.need_all);
  std::printf("sluice_sim: %llu seeds, %.0f simulated s, %llu operations in %.1f s: %.0f operations/s\n",
              static_cast<unsigned long long>(totals.seeds), static_cast<double>(totals.simulated_us) / 1e6,
              static_cast<unsigned long long>(totals.operations), seconds(),
              static_cast<double>(totals.operations) / seconds());
  return all ? 0 : 1;
}

}  // namespace
}  // namespace sluice::sim

int main(int count, char** texts) {
  using namespace sluice::sim;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (count == 2 && std::string(texts[1]) == "--list-mutants") {
    for (const std::string_view name : sluice::kMutants) std::printf("%s\n", std::string(name).c_str());
    return 0;
  }
  std::string wrong;
  const std::optional<Arguments> arguments = read_arguments(count, texts, wrong);
  if (!arguments) {
    std::fprintf(stderr,
                 "sluice_sim: '%s' is not understood; usage: sluice_sim [--seed N] [--seeds N] [--minutes N] [--known "
                 "FILE] [--need-all yes] [--trace yes] "
                 "[--lines N]"
                 " [--mutant NAME] | --list-mutants\n",
                 wrong.c_str());
    return 2;
  }
  const std::optional<std::vector<std::uint64_t>> known = read_known(arguments->known);
  if (!known) {
    std::fprintf(stderr, "sluice_sim: cannot read %s\n", arguments->known.c_str());
    return 2;
  }
  std::signal(SIGABRT, tell_seed);
  std::signal(SIGSEGV, tell_seed);
  return run_all(*arguments, *known);
}
