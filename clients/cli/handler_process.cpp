#include "cli/handler_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "cli/failure.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kReasonBytesMax = 1'000;
constexpr int kExitOfSignal = 128;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  bool open() const { return number_ >= 0; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

[[noreturn]] void refuse(const char* what, int error) {
  throw input_output_failure("cannot run the --exec command: " + std::string(what) + ": " + std::strerror(error));
}

void open_pipe(Descriptor& reader, Descriptor& writer) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse("pipe", errno);
  reader.reset(ends[0]);
  writer.reset(ends[1]);
}

void set_nonblocking(const Descriptor& descriptor) {
  const int flags = fcntl(descriptor.get(), F_GETFL);
  if (flags < 0 || fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK) != 0) refuse("fcntl", errno);
}

class SpawnSettings {
 public:
  SpawnSettings(int input, int error, bool stdout_to_stderr) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    if (stdout_to_stderr) posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes_, &set);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&set, signal);
    posix_spawnattr_setsigdefault(&attributes_, &set);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::vector<std::string> environment_of(const HandlerRun& run) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!run.environment.contains(std::string(text.substr(0, text.find('='))))) entries.emplace_back(text);
  }
  for (const auto& [key, value] : run.environment) entries.push_back(key + "=" + value);
  return entries;
}

pid_t spawn_shell(const std::string& command, const HandlerRun& run, const SpawnSettings& settings) {
  std::vector<std::string> entries = environment_of(run);
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string text = command;
  const std::array<char*, 4> arguments{shell.data(), flag.data(), text.data(), nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, "/bin/sh", settings.actions(), settings.attributes(), arguments.data(), environment.data());
  if (error != 0) refuse("/bin/sh", error);
  return child;
}

// Writes what the pipe takes; closes it at the end, and when the command does not want more (which is no failure).
void feed(Descriptor& input, std::string_view& rest) {
  while (!rest.empty()) {
    const ssize_t written = write(input.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  input.reset();
}

void pass_on(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody reads our stderr: the message still counts
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Reads what is there; closes the pipe at its end.
void drain(Descriptor& error, LastLine& last) {
  std::array<char, 4096> buffer;
  while (error.open()) {
    const ssize_t got = read(error.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      error.reset();
      return;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    last.add(bytes);
    pass_on(bytes);
  }
}

// Not glibc's: its 2.36 header declares the function for C only.
int open_process(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

int reap(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? kExitOfSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

// Until the command itself has ended: what it leaves running in the background, and holds the pipes open, is not waited for.
void serve(const Descriptor& process, Descriptor& input, std::string_view payload, Descriptor& error, LastLine& last) {
  while (true) {
    std::array<pollfd, 3> waits{pollfd{process.get(), POLLIN, 0}, pollfd{input.get(), POLLOUT, 0},
                                pollfd{error.get(), POLLIN, 0}};
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) refuse("poll", errno);
    if (waits[1].revents != 0) feed(input, payload);
    if (waits[2].revents != 0) drain(error, last);
    if (waits[0].revents != 0) break;
  }
  drain(error, last);
}

}  // namespace

std::string HandlerResult::reason() const {
  if (!last_error.empty()) return last_error;
  if (exit_status > kExitOfSignal) return "killed by signal " + std::to_string(exit_status - kExitOfSignal);
  return "exit status " + std::to_string(exit_status);
}

HandlerResult HandlerProcesses::run(const HandlerRun& run) {
  Descriptor child_input;
  Descriptor input;
  Descriptor error;
  Descriptor child_error;
  open_pipe(child_input, input);
  open_pipe(error, child_error);
  set_nonblocking(input);
  set_nonblocking(error);
  pid_t child = -1;
  {
    // Started under the lock: terminate_all() must not miss a command that runs already.
    const std::lock_guard lock(mutex_);
    child = spawn_shell(command_, run, SpawnSettings(child_input.get(), child_error.get(), run.stdout_to_stderr));
    running_.insert(child);
  }
  child_input.reset();
  child_error.reset();
  const Descriptor process(open_process(child));
  if (!process.open()) refuse("pidfd_open", errno);
  LastLine last;
  std::string_view payload = run.payload;
  feed(input, payload);
  serve(process, input, payload, error, last);
  HandlerResult result;
  {
    // Reaped under the lock: terminate_all() must never signal a number that is somebody else's by now.
    const std::lock_guard lock(mutex_);
    result.exit_status = reap(child);
    running_.erase(child);
  }
  result.last_error = last.text();
  return result;
}

void HandlerProcesses::terminate_all() {
  const std::lock_guard lock(mutex_);
  for (const pid_t child : running_) kill(-child, SIGTERM);
}

void LastLine::add(std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte != '\n') {
      if (current_.size() < kReasonBytesMax) current_ += byte;
      continue;
    }
    if (!one_line(current_, kReasonBytesMax).empty()) last_ = current_;
    current_.clear();
  }
}

std::string LastLine::text() const {
  const std::string unfinished = one_line(current_, kReasonBytesMax);
  return unfinished.empty() ? one_line(last_, kReasonBytesMax) : unfinished;
}

}  // namespace sluice::cli
