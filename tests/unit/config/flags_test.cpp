#include "loading.h"

using namespace sluice::config;
using namespace sluice::config::test;

TEST_CASE("flags: each setting is read, with a space or an equals sign") {
  const Settings settings = good({"--lease", "1m", "--max-attempts=7", "--dlq-max", "9", "--auto-create", "off",
                                  "--drain-timeout", "0s", "--max-sessions", "5", "--max-queues", "6",
                                  "--frame-bytes-max", "1MiB", "--log-level", "debug", "--log-format", "json"})
                                .settings;
  CHECK(settings.lease_ms == 60'000);
  CHECK(settings.max_attempts == 7);
  CHECK(settings.dlq_max == 9);
  CHECK_FALSE(settings.auto_create);
  CHECK(settings.drain_timeout_ms == 0);
  CHECK(settings.max_sessions == 5);
  CHECK(settings.max_queues == 6);
  CHECK(settings.frame_bytes_max == 1'048'576);
  CHECK(settings.log_level == LogLevel::debug);
  CHECK(settings.log_format == LogFormat::json);
}

TEST_CASE("flags: --listen may be repeated and takes one address each time") {
  const Loaded loaded = good({"--listen", "tcp://127.0.0.1:1", "--listen=ipc:///tmp/x"});
  CHECK(loaded.settings.listen == std::vector<std::string>{"tcp://127.0.0.1:1", "ipc:///tmp/x"});
  CHECK(contains(only_error({"--listen", "tcp://127.0.0.1:1", "ipc:///tmp/x"}), "unexpected argument 'ipc:///tmp/x'"));
}

TEST_CASE("flags: the same fixed address twice is refused, the same free port is not") {
  CHECK(contains(only_error({"--listen", "ipc://a", "--listen", "ipc://a"}), "each address once"));
  CHECK(good({"--listen", "tcp://127.0.0.1:0", "--listen", "tcp://127.0.0.1:0"}).settings.listen.size() == 2);
}

TEST_CASE("flags: a flag that is given twice is refused") {
  CHECK(contains(only_error({"--lease", "1s", "--lease", "2s"}), "--lease: given 2 times"));
}

TEST_CASE("flags: an unknown flag is named, with the one that was meant") {
  CHECK(only_error({"--leaze=1s"}) == "unknown flag --leaze; did you mean --lease?");
  CHECK(contains(only_error({"-x"}), "unknown flag -x"));
  CHECK(only_error({"--", "serve"}) == "unexpected argument 'serve'");
  // No abbreviations: they break when a flag is added.
  CHECK(contains(only_error({"--auto=off"}), "unknown flag --auto"));
}

TEST_CASE("flags: a missing value is said so") {
  CHECK(only_error({"--lease"}) == "--lease: the value is missing");
  CHECK(only_error({"--listen"}) == "--listen: the value is missing");
  CHECK(only_error({"--config="}) == "--config: the value is missing");
}

TEST_CASE("flags: help and version win over everything else that is wrong") {
  const Loaded help = good({"--help", "--lease", "nonsense", "--bogus"}, {"SLUICE_BOGUS=1"});
  REQUIRE(help.print.has_value());
  for (const char* part : {"--listen", "--frame-bytes-max", "[30s]", "SLUICE_DRAIN_TIMEOUT", "--check-config"}) {
    CAPTURE(part);
    CHECK(contains(*help.print, part));
  }
  CHECK(good({"-h"}).print == help.print);
  REQUIRE(good({"--version"}).print.has_value());
  CHECK(good({"--version"}).print->starts_with("sluiced "));
}

TEST_CASE("flags: no help line is wider than a wide terminal") {
  const std::string help = *good({"--help"}).print;
  std::size_t start = 0;
  while (start < help.size()) {
    const std::size_t end = help.find('\n', start);
    CHECK(end - start <= 125);
    start = end + 1;
  }
}
