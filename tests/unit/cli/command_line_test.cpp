#include "cli/command_line.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/output.h"

using namespace sluice::cli;

namespace {

// Catches what is written to a descriptor of this process.
class Capture {
 public:
  Capture(int descriptor, std::FILE* file)
      : descriptor_(descriptor), file_(file), saved_(dup(descriptor)), memory_(memfd_create("out", MFD_CLOEXEC)) {
    std::fflush(file_);
    dup2(memory_, descriptor_);
  }
  ~Capture() { restore(); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::string text() {
    restore();
    std::string all;
    std::array<char, 4096> part;
    lseek(memory_, 0, SEEK_SET);
    for (ssize_t got = 0; (got = read(memory_, part.data(), part.size())) > 0;)
      all.append(part.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    std::fflush(file_);
    dup2(saved_, descriptor_);
    close(saved_);
    saved_ = -1;
  }

  int descriptor_;
  std::FILE* file_;
  int saved_;
  int memory_;
};

struct Ended {
  int exit = 0;
  std::string out;
  std::string error;
};

Ended run(const std::vector<std::string>& arguments) {
  Capture out(STDOUT_FILENO, stdout);
  Capture error(STDERR_FILENO, stderr);
  Ended ended;
  ended.exit = run_command_line(arguments);
  ended.out = out.text();
  ended.error = error.text();
  return ended;
}

// Nothing listens there: port 1 is privileged, and unused.
const std::string kNowhere = "tcp://127.0.0.1:1";

}  // namespace

TEST_CASE("command line: usage errors are one line and a hint on stderr, nothing on stdout, exit 2") {
  const std::vector<std::vector<std::string>> lines{
      {},
      {"nonsense"},
      {"queue"},
      {"queue", "lss"},
      {"pub"},
      {"pub", "q"},
      {"pub", "q", "a", "b"},
      {"pub", "q", "x", "--nonsense"},
      {"pub", "q", "x", "--priority", "10"},
      {"pub", "q", "x", "--count", "-1"},
      {"pub", "q", "x", "--delay", "5"},
      {"pub", "q", "x", "-H", "novalue"},
      {"pub", "q", "x", "--lines"},
      {"pub", "q", "--file", "/nonexistent"},
      {"sub", "q", "-n", "0"},
      {"sub", "q", "--nack", "--reject"},
      {"sub", "q", "--exec", "true", "--nack"},
      {"sub", "q", "--parallel", "2"},
      {"sub", "q", "--prefetch", "65536"},
      {"peek", "q", "-n", "1001"},
      {"queue", "add", "q", "--max-bytes", "lots"},
      {"queue", "add", "q", "--backoff-jitter", "2"},
      {"queue", "add", "q", "--overflow", "explode"},
      {"queue", "add", "q", "--on-expiry", "reject"},
      {"queue", "add", "q", "--ttl", "5"},
      {"queue", "add", "q", "--dedup-window", "-1s"},
      {"queue", "edit", "q"},
      {"queue", "edit", "--lease", "5s"},
      {"queue", "edit", "q", "--block-timeout", "soon"},
      {"queue", "pause"},
      {"queue", "resume", "a", "b"},
      {"pub", "--topic", "t"},
      {"pub", "--topic", "t", "q", "x"},
      {"pub", "--topic"},
      {"pub", "q", "x", "--ttl", "18446744073709551615ms"},
      {"pub", "q", "x", "--dedup-key", ""},
      {"pub", "q", "--lines", "--dedup-key", "k"},
      {"sub"},
      {"sub", "", "-n", "1"},
      {"sub", "--topic", ""},
      {"sub", "a", "b", "--topic", "t"},
      {"bind"},
      {"bind", "add", "q"},
      {"bind", "rm", "q"},
      {"bind", "ls", "q", "p"},
      {"consumer"},
      {"consumer", "ls", "a", "b"},
      {"conn"},
      {"conn", "close", "--force"},
      {"conn", "close", "0", "--force"},
      {"conn", "close", "-1", "--force"},
      {"conn", "close", "9223372036854775808", "--force"},
      {"conn", "close", "x", "--force"},
      {"server", "drain", "now"},
      {"dlq", "ls", "--reason", "sadness"},
      {"dlq", "peek", "q", "--reason", ""},
      {"dlq", "replay", "q", "--reason", "Expired"},
      {"dlq", "replay", "q", "--id", "x"},
      {"bench", "--size", "23"},
      {"bench", "--preset", "huge"},
      {"bench", "--queues", "2", "--consumers", "1"},
      {"bench", "--msgs", "5", "--duration", "1s"},
      {"bench", "--connections", "0"},
      {"bench", "--connections", "-1"},
      {"bench", "--connections", "x"},
      {"bench", "--connections", "2"},
      {"bench", "--consumers", "3", "--connections", "4"},
      {"bench", "--preset", "small", "--connections", "4"},
      {"get", "q", "--color", "blue"},
      {"get", "q", "--timeout", "soon"},
      {"get", "q", "--url", "here"},
      {"--timeout"},
  };
  for (const auto& line : lines) {
    const Ended ended = run(line);
    CAPTURE(ended.error);
    CHECK(ended.exit == 2);
    CHECK(ended.out.empty());
    CHECK(ended.error.starts_with("sluice: "));
    const auto newlines = std::count(ended.error.begin(), ended.error.end(), '\n');
    CHECK(newlines >= 1);
    CHECK(newlines <= 2);
  }
}

TEST_CASE("command line: with --json an error is one object on stdout, wherever the flag stands") {
  for (const auto& line : std::vector<std::vector<std::string>>{
           {"--json", "pub"}, {"pub", "--json"}, {"pub", "q", "x", "--nonsense", "--json"}}) {
    const Ended ended = run(line);
    CHECK(ended.exit == 2);
    CHECK(ended.error.empty());
    const Json error = Json::parse(ended.out)["error"];
    CHECK(error["name"] == "usage");
    for (const char* const key : {"code", "message", "hint"}) CHECK(error.contains(key));
  }
}

TEST_CASE("command line: verbs and flags of later versions are refused by name") {
  for (const char* const verb : {"top", "monitor", "metrics", "health", "config", "completion", "trace", "explain"}) {
    const Ended ended = run({verb, "whatever", "--flag"});
    CHECK(ended.exit == 2);
    CHECK(ended.error == "sluice: not in this version: " + std::string(verb) + "\n");
  }
  CHECK(run({"server", "log-level", "debug"}).error == "sluice: not in this version: server log-level\n");
}

TEST_CASE("command line: help shows what works and hides what does not") {
  const Ended help = run({"--help"});
  CHECK(help.exit == 0);
  CHECK(help.error.empty());
  CHECK(help.out.find("bench") != std::string::npos);
  CHECK(help.out.find("monitor") == std::string::npos);
  for (const auto& line :
       std::vector<std::vector<std::string>>{{"pub", "--help"}, {"queue", "add", "-h"}, {"dlq", "replay", "--help"}}) {
    const Ended ended = run(line);
    CHECK(ended.exit == 0);
    CHECK(ended.out.find("Example") != std::string::npos);
    CHECK(ended.out.find("--url") != std::string::npos);
  }
}

TEST_CASE("command line: add and edit have the same flags of the policy") {
  const std::string add = run({"queue", "add", "--help"}).out;
  const std::string edit = run({"queue", "edit", "--help"}).out;
  for (const char* const flag : {"--lease", "--max-attempts", "--backoff-initial", "--backoff-factor", "--backoff-max",
                                 "--backoff-jitter", "--max-messages", "--max-bytes", "--overflow", "--block-timeout",
                                 "--ttl", "--on-expiry", "--dedup-window", "--dlq-max"}) {
    CHECK_MESSAGE(add.find(flag) != std::string::npos, flag);
    CHECK_MESSAGE(edit.find(flag) != std::string::npos, flag);
  }
}

TEST_CASE("command line: with a topic the first word is the body, whatever it looks like") {
  // It gets as far as looking for the broker.
  for (const char* const body : {"{}", "[1,2]", "%%", "queue"}) {
    CHECK(run({"pub", "--topic", "a.b", body, "--url", kNowhere, "--timeout", "50ms"}).exit == 5);
    CHECK(run({"pub", "jobs", body, "--url", kNowhere, "--timeout", "50ms"}).exit == 5);
  }
}

TEST_CASE("command line: the version is told in both forms") {
  CHECK(run({"--version"}).out.starts_with("sluice "));
  CHECK(Json::parse(run({"--version", "--json"}).out)["protocol"] == 1);
}

TEST_CASE("command line: a body that is the name of a command is a body") {
  // It gets as far as looking for the broker.
  const Ended ended = run({"pub", "queue", "get", "--url", kNowhere, "--timeout", "100ms"});
  CHECK(ended.exit == 5);
}

TEST_CASE("command line: no broker is exit 5, and says where it was looked for") {
  const Ended ended = run({"--url", kNowhere, "--timeout", "100ms", "queue", "ls"});
  CHECK(ended.exit == 5);
  CHECK(ended.error.find(kNowhere) != std::string::npos);
  const Ended json = run({"queue", "ls", "--json", "--url", kNowhere, "--timeout", "100ms"});
  CHECK(json.exit == 5);
  CHECK(Json::parse(json.out)["error"]["code"] == 1001);
}

TEST_CASE("command line: destructive verbs refuse without a terminal, before any connection") {
  const int keep = dup(STDIN_FILENO);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  for (const auto& line : std::vector<std::vector<std::string>>{{"queue", "rm", "q"},
                                                                {"queue", "purge", "q"},
                                                                {"dlq", "purge", "q"},
                                                                {"dlq", "rm", "q"},
                                                                {"conn", "close", "1"}}) {
    const Ended ended = run(line);
    CHECK(ended.exit == 2);
    CHECK(ended.error.find("--force") != std::string::npos);
  }
  dup2(keep, STDIN_FILENO);
  close(keep);
}
