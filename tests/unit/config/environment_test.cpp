#include "loading.h"

using namespace sluice::config;
using namespace sluice::config::test;

TEST_CASE("environment: each setting has its variable") {
  const Loaded loaded =
      good({}, {"SLUICE_LEASE=2m", "SLUICE_FRAME_BYTES_MAX=2MiB", "SLUICE_INSECURE=true", "SLUICE_AUTO_CREATE=off"});
  CHECK(loaded.settings.lease_ms == 120'000);
  CHECK(loaded.settings.frame_bytes_max == 2'097'152);
  CHECK(loaded.settings.insecure);
  CHECK_FALSE(loaded.settings.auto_create);
  CHECK(origin_of(loaded, "lease").origin == "environment SLUICE_LEASE");
}

TEST_CASE("environment: several addresses are divided by commas") {
  const Loaded loaded = good({}, {"SLUICE_LISTEN=tcp://127.0.0.1:1, ipc:///tmp/x"});
  CHECK(loaded.settings.listen == std::vector<std::string>{"tcp://127.0.0.1:1", "ipc:///tmp/x"});
  CHECK(contains(only_error({}, {"SLUICE_LISTEN=ipc://a,,ipc://b"}), "SLUICE_LISTEN: an address is"));
}

TEST_CASE("environment: an empty variable is as if it were not set") {
  CHECK(good({}, {"SLUICE_LEASE=", "SLUICE_LISTEN=", "SLUICE_BOGUS="}).settings.lease_ms == 30'000);
}

TEST_CASE("environment: an unknown variable is named, with the one that was meant") {
  CHECK(only_error({}, {"SLUICE_LEESE=1s"}) == "unknown variable SLUICE_LEESE; did you mean SLUICE_LEASE?");
  // What says what to do is a flag only.
  CHECK(contains(only_error({}, {"SLUICE_CHECK_CONFIG=1"}), "unknown variable SLUICE_CHECK_CONFIG"));
}

TEST_CASE("environment: variables of the client, of the build and of Kubernetes are left alone") {
  (void)good({}, {"SLUICE_URL=tcp://1.2.3.4:5", "SLUICE_BIN_DIR=/x", "SLUICE_QUEUE=jobs", "SLUICE_MESSAGE_ID=7",
                  "SLUICE_VERSION=9", "SLUICE_SERVICE_HOST=10.0.0.1", "SLUICE_PORT_5570_TCP_ADDR=10.0.0.1",
                  "SLUICE_TEST_SEED=1", "PATH=/bin", "NO_EQUALS", "sluice_lease=x"});
}

TEST_CASE("environment: the file can be named by a variable, and the flag beats it") {
  const TemporaryFile first("lease = \"1s\"");
  const TemporaryFile second("lease = \"2s\"");
  const std::string variable = "SLUICE_CONFIG=" + first.path();
  CHECK(good({}, {variable}).settings.lease_ms == 1'000);
  CHECK(good({"--config", second.path()}, {variable}).settings.lease_ms == 2'000);
}
