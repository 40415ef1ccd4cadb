#include "config/load.h"

#include "config/option.h"
#include "loading.h"

using namespace sluice::config;
using namespace sluice::config::test;

TEST_CASE("load: nothing given means the defaults, and each says so") {
  const Loaded loaded = good({});
  CHECK(loaded.settings.listen == std::vector<std::string>{"tcp://127.0.0.1:5570"});
  CHECK(loaded.settings.lease_ms == 30'000);
  CHECK(loaded.settings.max_attempts == 5);
  CHECK(loaded.settings.dlq_max == 10'000);
  CHECK(loaded.settings.auto_create);
  CHECK_FALSE(loaded.settings.insecure);
  CHECK(loaded.settings.drain_timeout_ms == 10'000);
  CHECK(loaded.settings.frame_bytes_max == 8'388'608);
  CHECK_FALSE(loaded.print.has_value());
  for (const Origin& origin : loaded.origins) CHECK(origin.origin == "default");
}

TEST_CASE("load: a flag beats a variable, a variable the file, the file the default") {
  const TemporaryFile file("lease = \"1s\"\nmax-attempts = 11\ndlq-max = 12\n");
  const std::vector<std::string> flags = {"--config", file.path(), "--lease", "3s"};
  const Loaded loaded = good(flags, {"SLUICE_LEASE=2s", "SLUICE_MAX_ATTEMPTS=22"});
  CHECK(loaded.settings.lease_ms == 3'000);
  CHECK(origin_of(loaded, "lease").origin == "flag --lease");
  CHECK(loaded.settings.max_attempts == 22);
  CHECK(origin_of(loaded, "max-attempts").origin == "environment SLUICE_MAX_ATTEMPTS");
  CHECK(loaded.settings.dlq_max == 12);
  CHECK(origin_of(loaded, "dlq-max").origin == file.path() + ":3");
  CHECK(origin_of(loaded, "log-level").origin == "default");
}

TEST_CASE("load: a list is replaced whole, not added to") {
  const Loaded loaded = good({"--listen", "ipc://b"}, {"SLUICE_LISTEN=ipc://a"});
  CHECK(loaded.settings.listen == std::vector<std::string>{"ipc://b"});
}

TEST_CASE("load: a bad value that is beaten by a better one is an error all the same") {
  CHECK(contains(only_error({"--lease", "3s"}, {"SLUICE_LEASE=7"}), "SLUICE_LEASE: "));
}

TEST_CASE("load: everything that is wrong is told at once") {
  const TemporaryFile file("leese = \"1s\"\nmax-attempts = 0\n");
  const auto all = errors({"--config", file.path(), "--lease=25h", "--bogus", "--listen", "tcp://0.0.0.0:5570"},
                          {"SLUICE_DLQ_MAX=-1", "SLUICE_BOGUS=1"});
  CHECK(all.size() == 7);
  CHECK(has_line(all, {file.path() + ":1: unknown key 'leese'"}));
  CHECK(has_line(all, {file.path() + ":2: max-attempts: ", "from 1 to 1000000", "'0'"}));
  CHECK(has_line(all, {"--lease: from 100ms to 1d, not '25h'"}));
  CHECK(has_line(all, {"unknown flag --bogus"}));
  CHECK(has_line(all, {"SLUICE_DLQ_MAX: ", "'-1'"}));
  CHECK(has_line(all, {"unknown variable SLUICE_BOGUS"}));
  CHECK(has_line(all, {"--listen: tcp://0.0.0.0:5570", "--insecure"}));
}

TEST_CASE("load: ranges are exact") {
  for (const char* value : {"100ms", "24h", "1d"}) CHECK(good({"--lease", value}).print == std::nullopt);
  for (const char* value : {"99ms", "86400.001s", "0s"})
    CHECK(contains(only_error({"--lease", value}), "from 100ms to 1d"));
  for (const char* value : {"1", "1000000"}) (void)good({"--max-attempts", value});
  for (const char* value : {"0", "1000001", "5.0", "five", "18446744073709551617"}) {
    CHECK(contains(only_error({"--max-attempts", value}), "from 1 to 1000000"));
  }
  for (const char* value : {"1", "10000000"}) (void)good({"--dlq-max", value});
  for (const char* value : {"0", "10000001"}) CHECK(contains(only_error({"--dlq-max", value}), "from 1 to 10000000"));
  for (const char* value : {"1MiB", "1GiB", "1048576"}) (void)good({"--frame-bytes-max", value});
  for (const char* value : {"65535", "1073741825"}) {
    CHECK(contains(only_error({"--frame-bytes-max", value}), "from 1MiB to 1GiB"));
  }
  CHECK(contains(only_error({"--log-level", "loud"}), "one of debug, info, warn, error, not 'loud'"));
  CHECK(contains(only_error({"--auto-create", "maybe"}), "on or off"));
}

TEST_CASE("load: an address that others can reach needs --insecure, wherever either stands") {
  const TemporaryFile file("insecure = true\n");
  CHECK(contains(only_error({"--listen", "tcp://*:5570"}), "--listen: tcp://*:5570 can be reached"));
  CHECK(contains(only_error({}, {"SLUICE_LISTEN=ipc://a,tcp://10.0.0.1:1"}),
                 "SLUICE_LISTEN: tcp://10.0.0.1:1 can be reached"));
  (void)good({"--listen", "tcp://*:5570", "--insecure"});
  (void)good({"--listen", "tcp://*:5570"}, {"SLUICE_INSECURE=on"});
  (void)good({"--listen", "tcp://*:5570", "--config", file.path()});
  // The flag can take back what the file allows.
  (void)only_error({"--listen", "tcp://*:5570", "--config", file.path(), "--insecure=off"});
}

TEST_CASE("load: what belongs to a later version is refused by name in every source") {
  const TemporaryFile file("prefetch = \"16\"\nhttp = \"127.0.0.1:1\"\n");
  const auto all =
      errors({"--config", file.path(), "--http", "127.0.0.1:5580"}, {"SLUICE_EVENTS=tcp://127.0.0.1:5571"});
  CHECK(all.size() == 4);
  CHECK(has_line(all, {":1: prefetch: not in this version (each consumer says"}));
  CHECK(has_line(all, {":2: http: not in this version"}));
  CHECK(has_line(all, {"--http: not in this version"}));
  CHECK(has_line(all, {"SLUICE_EVENTS: not in this version"}));
}

TEST_CASE("load: the sync mode is always, os, or an interval of its own length") {
  CHECK(good({}).settings.sync == SyncMode::always);
  CHECK(good({"--sync", "os"}).settings.sync == SyncMode::os);
  const Settings every = good({"--sync", "interval=20ms"}).settings;
  CHECK(every.sync == SyncMode::interval);
  CHECK(every.sync_interval_ms == 20);
  CHECK(good({"--sync", "interval"}).settings.sync_interval_ms == Settings().sync_interval_ms);
  for (const std::string wrong :
       {"", "never", "always=1s", "interval=", "interval=0ms", "interval=2m", "interval=-1s"}) {
    CAPTURE(wrong);
    CHECK(contains(only_error({"--sync", wrong}), "--sync: "));
  }
}

TEST_CASE("load: --check-config prints every value and its origin, as a file that means the same") {
  const TemporaryFile file("drain-timeout = \"1.5m\"\n");
  const std::vector<std::string> flags = {"--check-config", "--config", file.path(), "--listen", "ipc:///tmp/a\"b\\",
                                          "--listen",       "ipc://c",  "--lease",   "90m"};
  const Loaded first = good(flags, {"SLUICE_AUTO_CREATE=off"});
  REQUIRE(first.print.has_value());
  CHECK(contains(*first.print, "# " + file.path() + ":1\n"));
  CHECK(contains(*first.print, "# flag --lease\n"));
  CHECK(contains(*first.print, "# environment SLUICE_AUTO_CREATE\n"));
  CHECK(contains(*first.print, "# default\n"));

  const TemporaryFile printed(*first.print);
  const Loaded second = good({"--config", printed.path()});
  CHECK_FALSE(second.print.has_value());
  for (const Origin& origin : first.origins) {
    if (origin.name == "config") continue;
    CAPTURE(origin.name);
    CHECK(origin_of(second, origin.name).values == origin.values);
  }
}

TEST_CASE("load: --check-config with an error prints nothing but errors") {
  CHECK(contains(only_error({"--check-config", "--lease", "7"}), "--lease: "));
}

TEST_CASE("load: errors hold no control characters") {
  const auto all = errors({"--log-level", "\x1b[31mred\n", "--\x1b]0;x"}, {"SLUICE_\x1b=1"});
  CHECK(all.size() == 3);
  for (const std::string& error : all) {
    CHECK(error.find('\x1b') == std::string::npos);
    CHECK(error.find('\n') == std::string::npos);
  }
}
