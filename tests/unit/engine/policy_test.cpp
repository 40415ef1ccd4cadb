#include "engine/policy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace sluice::engine {
namespace {

TEST_CASE("policy: what it writes it reads") {
  Policy policy;
  policy.lease_ms = 250;
  policy.backoff_factor = 1.5;
  policy.max_messages = 7;
  const auto read = read_policy(to_map(policy), Policy());
  REQUIRE(read.has_value());
  CHECK(*read == policy);
}

TEST_CASE("policy: keys that are not given keep the base's value") {
  Policy base;
  base.max_attempts = 9;
  const auto read = read_policy(wire::Map().set("lease_ms", 500), base);
  REQUIRE(read.has_value());
  CHECK(read->max_attempts == 9);
  CHECK(read->lease_ms == 500);
}

TEST_CASE("policy: every value has a range, and the error names key, rule and value") {
  const auto refused = [](const char* key, wire::Value value) {
    const auto read = read_policy(wire::Map().set(key, std::move(value)), Policy());
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::bad_policy);
    CHECK(read.error().text.find(key) != std::string::npos);
    return read.error().text;
  };
  CHECK(refused("lease_ms", 99).find("from 100 to 86400000, is 99") != std::string::npos);
  refused("lease_ms", 86'400'001);
  refused("lease_ms", -1);
  refused("lease_ms", "30000");
  refused("lease_ms", 1e3);
  refused("max_attempts", 0);
  refused("dead_letter_max", 0);
  refused("backoff_factor", 0.5);
  refused("backoff_factor", std::nan(""));
  refused("backoff_jitter", 1.01);
  refused("backoff_jitter", -0.1);
  refused("backoff_max_ms", ~std::uint64_t{0});
  refused("no_such_key", 1);
}

TEST_CASE(
    "C05 backoff: grows by the factor, and is never negative, zero or above the cap however many attempts there were") {
  Policy policy;
  policy.backoff_initial_ms = 1'000;
  policy.backoff_max_ms = 60'000;
  policy.backoff_jitter = 0;
  Random random(1);
  CHECK(backoff_ms(policy, 1, random) == 1'000);
  CHECK(backoff_ms(policy, 2, random) == 2'000);
  CHECK(backoff_ms(policy, 3, random) == 4'000);
  for (const std::uint64_t attempts :
       std::initializer_list<std::uint64_t>{31, 32, 40, 63, 64, 65, 100, 1'000'000, ~std::uint64_t{0}})
    CHECK(backoff_ms(policy, attempts, random) == 60'000);
}

TEST_CASE("C05 backoff: jitter stays within its share, and under the cap") {
  Policy policy;
  policy.backoff_jitter = 0.2;
  Random random(7);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t wait = backoff_ms(policy, 2, random);
    least = std::min(least, wait);
    most = std::max(most, wait);
    CHECK(backoff_ms(policy, 50, random) <= policy.backoff_max_ms);
  }
  CHECK(least >= 1'600);
  CHECK(least < 1'650);
  CHECK(most <= 2'400);
  CHECK(most > 2'350);
}

TEST_CASE("backoff: an initial time of 0 means at once") {
  Policy policy;
  policy.backoff_initial_ms = 0;
  Random random(1);
  CHECK(backoff_ms(policy, 5, random) == 0);
}

}  // namespace
}  // namespace sluice::engine
