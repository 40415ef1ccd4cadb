#include "cli/policy.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace sluice;
using namespace sluice::cli;

namespace {

QueuePolicy parsed(std::vector<std::string> arguments) {
  CLI::App app;
  QueuePolicy policy;
  add_policy_flags(app, policy);
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  return policy;
}

std::string facts_of(const QueuePolicy& policy) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&bytes, &size);
  {
    Output out(file, {});
    Facts facts(out);
    add_policy_facts(facts, policy);
    facts.print();
  }
  std::fclose(file);
  const std::string text(bytes, size);
  std::free(bytes);
  return text;
}

}  // namespace

TEST_CASE("policy: what is not given is not set, so that an edit leaves it") {
  CHECK_FALSE(any_set(parsed({})));
  const QueuePolicy policy = parsed({"--ttl", "0s"});
  CHECK(any_set(policy));
  CHECK(json_of(policy) == Json{{"ttl_ms", 0}});
}

TEST_CASE("policy: every flag reaches the key of the specification") {
  const QueuePolicy policy = parsed({"--lease",          "5s",  "--max-attempts", "3",     "--backoff-initial", "10ms",
                                     "--backoff-factor", "1.5", "--backoff-max",  "1m",    "--backoff-jitter",  "0.5",
                                     "--max-messages",   "100", "--max-bytes",    "64KiB", "--overflow",        "block",
                                     "--block-timeout",  "2s",  "--ttl",          "1h",    "--on-expiry",       "drop",
                                     "--dedup-window",   "0s",  "--dlq-max",      "7",     "--durable",         "off"});
  const Json expected = {{"lease_ms", 5'000},         {"max_attempts", 3},        {"backoff_initial_ms", 10},
                         {"backoff_factor", 1.5},     {"backoff_max_ms", 60'000}, {"backoff_jitter", 0.5},
                         {"max_messages", 100},       {"max_bytes", 65'536},      {"overflow", "block"},
                         {"block_timeout_ms", 2'000}, {"ttl_ms", 3'600'000},      {"on_expiry", "drop"},
                         {"dedup_window_ms", 0},      {"dead_letter_max", 7},     {"durable", false}};
  CHECK(json_of(policy) == expected);
  CHECK(policy.overflow == "block");
  CHECK(policy.backoff.factor == 1.5);
  std::string lines;
  for (const auto& [key, value] : expected.items())
    lines += key + "\t" +
             (value.is_string()    ? value.get<std::string>()
              : value.is_boolean() ? "no"
                                   : value.dump()) +
             "\n";
  CHECK(facts_of(policy) == lines);
}

TEST_CASE("policy: a word that is none of the choices is refused with all of them") {
  try {
    parsed({"--overflow", "drop-oldest"});
    FAIL("drop-oldest was taken");
  } catch (const CLI::ValidationError& error) {
    CHECK(std::string(error.what()) ==
          "--overflow: must be reject, block, drop_oldest or dead_letter_oldest, not 'drop-oldest'");
  }
  CHECK_THROWS_AS(parsed({"--on-expiry", ""}), CLI::ParseError);
}
