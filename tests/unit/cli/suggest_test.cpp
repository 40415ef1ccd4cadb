#include "cli/suggest.h"

#include <doctest/doctest.h>

using sluice::cli::nearest;

TEST_CASE("suggest: a typing error finds the word that was meant") {
  const std::vector<std::string> commands{"pub", "sub", "get", "peek", "queue", "dlq", "server", "bench"};
  CHECK(nearest("qeue", commands) == "queue");
  CHECK(nearest("queu", commands) == "queue");
  CHECK(nearest("pbu", commands) == "pub");
  CHECK(nearest("serverr", commands) == "server");
  CHECK(nearest("dql", commands) == "dlq");
}

TEST_CASE("suggest: an abbreviation finds the word that it begins") {
  CHECK(nearest("--prio", {"--priority", "--prefetch"}) == "--priority");
}

TEST_CASE("suggest: a different word finds nothing") {
  const std::vector<std::string> commands{"pub", "sub", "queue"};
  CHECK(nearest("publish", commands).empty());
  CHECK(nearest("xyz", commands).empty());
  CHECK(nearest("", commands).empty());
}
