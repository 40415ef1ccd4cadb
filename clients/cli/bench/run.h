#pragma once
// cli/bench/run.h: one benchmark run, from the first connection to the figures.
//
// Place    commands/bench → [run] → producers, consumers; or two children of the same program that are led by a line protocol:
//              child → parent (its stdout)  {"ready":true} · {"progress":{...}} · {"produced":{...}} · {"consumed":{...}}
//              parent → child (its stdin)   go · stop · expect N
// Threads  call from one thread; `stopped` may become true at any time and ends the publishing early.

#include <atomic>

#include "cli/bench/parameters.h"
#include "cli/bench/result.h"
#include "cli/failure.h"

namespace sluice::cli {

// Producers and consumers of this process, as the parameters' role says.
BenchResult run_here(const Context& context, const BenchParameters& parameters, const std::atomic<bool>& stopped);
// One process of producers and one of consumers.
BenchResult run_separate(const Context& context, const BenchParameters& parameters, const std::atomic<bool>& stopped);
// What such a process does.
Exit run_led(Context& context, const BenchParameters& parameters);

// How long no message may come before the run is given up.
Milliseconds idle_limit(const BenchParameters& parameters);

}  // namespace sluice::cli
