#include <rapidcheck.h>

#include "config/source.h"
#include "loading.h"

using namespace sluice::config;
using namespace sluice::config::test;

namespace {

std::vector<std::string> file_errors(std::string_view text) {
  const TemporaryFile file(text);
  return errors({"--config", file.path()});
}

}  // namespace

TEST_CASE("file: every setting is a key") {
  const TemporaryFile file(R"(
# a comment
listen = ["tcp://127.0.0.1:1", "ipc:///tmp/x"]
insecure = false
lease = "1.5h"
max-attempts = 7
dlq-max = 20
auto-create = false
drain-timeout = "1s"
max-sessions = 3
max-queues = 4
frame-bytes-max = "4MiB"
log-level = "error"
log-format = "text"
)");
  const Loaded loaded = good({"--config", file.path()});
  CHECK(loaded.settings.listen.size() == 2);
  CHECK(loaded.settings.lease_ms == 5'400'000);
  CHECK(loaded.settings.max_attempts == 7);
  CHECK(loaded.settings.dlq_max == 20);
  CHECK_FALSE(loaded.settings.auto_create);
  CHECK(loaded.settings.max_sessions == 3);
  CHECK(loaded.settings.max_queues == 4);
  CHECK(loaded.settings.frame_bytes_max == 4'194'304);
  CHECK(loaded.settings.log_level == LogLevel::error);
  CHECK(loaded.settings.log_format == LogFormat::text);
  CHECK(origin_of(loaded, "listen").origin == file.path() + ":3");
  CHECK(origin_of(loaded, "log-format").origin == file.path() + ":14");
}

TEST_CASE("file: one address needs no array") {
  const TemporaryFile file("listen = \"ipc:///tmp/x\"");
  CHECK(good({"--config", file.path()}).settings.listen == std::vector<std::string>{"ipc:///tmp/x"});
}

TEST_CASE("file: errors name file, line, key, rule and value") {
  const TemporaryFile file("\n\nlease = \"50ms\"\n");
  CHECK(only_error({"--config", file.path()}) == file.path() + ":3: lease: from 100ms to 1d, not '50ms'");
}

TEST_CASE("file: an unknown key is named with its line and the one that was meant") {
  CHECK(has_line(file_errors("max_attempts = 3"), {":1: unknown key 'max_attempts'; did you mean max-attempts?"}));
  CHECK(has_line(file_errors("[limits]\nx = 1"), {":1: unknown key 'limits'"}));
  CHECK(has_line(file_errors("topics = true"), {":1: unknown key 'topics'"}));
}

TEST_CASE("file: a value of the wrong type is refused with the right one") {
  CHECK(has_line(file_errors("lease = 1.5"), {":1: lease: a string in quotes, not floating-point"}));
  CHECK(has_line(file_errors("lease = true"), {"a string in quotes, not boolean"}));
  CHECK(has_line(file_errors("max-attempts = [5]"), {"a whole number, not array"}));
  CHECK(has_line(file_errors("listen = [1]"), {"an array of them"}));
  CHECK(has_line(file_errors("listen = []"), {"at least one address"}));
  CHECK(has_line(file_errors("[lease]\nx = 1"), {"lease: a string in quotes, not table"}));
  CHECK(has_line(file_errors("insecure = 1979-05-27"), {"true or false, not date"}));
  // A number without a unit is refused by the rule of durations, not taken for seconds.
  CHECK(has_line(file_errors("lease = 30"), {"lease: a duration is", "the unit is missing"}));
  CHECK(has_line(file_errors("max-attempts = -1"), {"from 1 to 1000000, not '-1'"}));
}

TEST_CASE("file: the flags that say what to do are no keys") {
  CHECK(has_line(file_errors("check-config = true"), {":1: check-config: only as the flag --check-config"}));
  CHECK(has_line(file_errors("config = \"x\""), {":1: config: only as the flag --config"}));
}

TEST_CASE("file: a syntax error names its line, and flags are judged all the same") {
  const TemporaryFile file("lease = \"1s\"\nmax-attempts = = 3\n");
  const auto all = errors({"--config", file.path(), "--lease", "7"});
  CHECK(all.size() == 2);
  CHECK(has_line(all, {file.path() + ":2: "}));
  CHECK(has_line(all, {"--lease: "}));
  CHECK(has_line(file_errors("lease = \"1s\"\nlease = \"2s\""), {":2: "}));
  CHECK(has_line(file_errors("\xff\xfe"), {":1: "}));
}

TEST_CASE("file: what cannot be read is said with the system's reason") {
  CHECK(contains(only_error({"--config", "/nonexistent/x.toml"}), "/nonexistent/x.toml: cannot be read: No such file"));
  CHECK(contains(only_error({"--config", "/"}), "/: cannot be read: "));
}

TEST_CASE("file: an endless file is refused") {
  CHECK(contains(only_error({"--config", "/dev/zero"}), "/dev/zero: cannot be read: larger than 1MiB"));
}

TEST_CASE("file: any text gives values or errors with a line") {
  CHECK(rc::check([](const std::string& text) {
    const Source source = read_toml(text, "x");
    for (const std::string& error : source.errors) RC_ASSERT(error.starts_with("x:"));
    for (const Given& given : source.given) RC_ASSERT(given.origin.starts_with("x:"));
  }));
}
