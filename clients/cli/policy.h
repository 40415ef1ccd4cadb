#pragma once
// cli/policy.h: the policy of a queue as flags, as facts and as JSON: one table for all three.
//
// Place    commands/queue, commands/sub, message_json → [policy].
// Source   spec/semantics.md section 4 (keys, ranges and defaults; the broker checks the ranges).

#include <CLI/CLI.hpp>

#include "cli/facts.h"
#include "cli/output.h"
#include "sluice/client.h"

namespace sluice::cli {

// What is not given stays unset. The policy must outlive the parse.
void add_policy_flags(CLI::App& command, QueuePolicy& policy);
// Is anything set?
bool any_set(const QueuePolicy& policy);

void add_policy_facts(Facts& facts, const QueuePolicy& policy);
// Only what is set.
Json json_of(const QueuePolicy& policy);

}  // namespace sluice::cli
