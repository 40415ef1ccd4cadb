#include "cli/handler_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "cli/failure.h"

using namespace sluice::cli;

namespace {

HandlerResult run(const std::string& command, std::string_view payload = {},
                  std::map<std::string, std::string> environment = {}) {
  std::signal(SIGPIPE, SIG_IGN);  // as main() does
  HandlerProcesses handlers(command);
  return handlers.run({payload, std::move(environment), true});
}

// A path that is removed at the end.
class TemporaryFile {
 public:
  TemporaryFile() { close(mkstemp(path_.data())); }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(path_, std::ios::binary).rdbuf();
    return all.str();
  }

 private:
  std::string path_ = "/tmp/sluice_handler_test_XXXXXX";
};

}  // namespace

TEST_CASE("handler process: exit status 0 is well, others are told as they are") {
  CHECK(run("exit 0").ok());
  const HandlerResult failed = run("exit 7");
  CHECK(failed.exit_status == 7);
  CHECK(failed.reason() == "exit status 7");
}

TEST_CASE("handler process: the reason is the last line of stderr that says something") {
  CHECK(run("echo first >&2; echo 'the last' >&2; echo >&2; exit 1").reason() == "the last");
  CHECK(run("printf 'no newline' >&2; exit 1").reason() == "no newline");
  CHECK(run("printf 'odd \\033 \\377' >&2; exit 1").reason() == "odd   ?");
}

TEST_CASE("handler process: death by signal is an exit status as in a shell") {
  const HandlerResult killed = run("kill -9 $$");
  CHECK(killed.exit_status == 137);
  CHECK(killed.reason() == "killed by signal 9");
}

TEST_CASE("handler process: the payload arrives byte for byte, also when it is larger than a pipe") {
  std::string payload;
  for (int i = 0; i < 1'000'000; ++i) payload += static_cast<char>(i * 31);
  const TemporaryFile file;
  CHECK(run("cat > " + file.path(), payload).ok());
  CHECK(file.content() == payload);
}

TEST_CASE("handler process: a command that reads nothing of a large payload is no failure") {
  CHECK(run("exit 0", std::string(1'000'000, 'x')).ok());
}

TEST_CASE("handler process: facts are in the environment, and replace what was there") {
  setenv("SLUICE_QUEUE", "old", 1);
  CHECK(run("test \"$SLUICE_QUEUE\" = jobs && test \"$SLUICE_ATTEMPTS\" = 2", "",
            {{"SLUICE_QUEUE", "jobs"}, {"SLUICE_ATTEMPTS", "2"}})
            .ok());
  unsetenv("SLUICE_QUEUE");
}

TEST_CASE("handler process: what the command leaves in the background is not waited for") {
  const auto begun = std::chrono::steady_clock::now();
  CHECK(run("sleep 30 >/dev/null & exit 0").ok());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
}

TEST_CASE("handler process: terminating ends a running command") {
  const TemporaryFile started;
  HandlerProcesses handlers("echo up > " + started.path() + "; sleep 60");
  HandlerResult result;
  std::thread running([&] { result = handlers.run({"", {}, true}); });
  while (started.content().empty()) std::this_thread::yield();
  handlers.terminate_all();
  running.join();
  CHECK(result.exit_status == 128 + SIGTERM);
}

TEST_CASE("last line: pieces and long lines are put together and bounded") {
  LastLine line;
  line.add("par");
  line.add("t one\npart");
  line.add(" two\n");
  CHECK(line.text() == "part two");
  line.add(std::string(5'000, 'x'));
  CHECK(line.text().size() == 1'000);
}
