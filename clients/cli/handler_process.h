#pragma once
// cli/handler_process.h: one message handled by one run of a shell command (sub --exec).
//
// Shapes   in: the payload on the command's stdin, facts about the message in its environment. out: how it ended, and the last line
//          it wrote to stderr, which is passed on as it comes.
// Threads  HandlerProcesses may be used from any thread; each run() waits for its own command.
// Owns     each command's process group, so that a Ctrl-C meant for us does not kill the work we promised to finish.

#include <sys/types.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace sluice::cli {

struct HandlerRun {
  std::string_view payload;
  std::map<std::string, std::string> environment;  // beside our own
  bool stdout_to_stderr = false;                   // keeps our stdout free for JSON
};

struct HandlerResult {
  int exit_status = 0;     // as shells count it: 128 + n when killed by signal n
  std::string last_error;  // last line of stderr that is not empty, as one line of text

  bool ok() const { return exit_status == 0; }
  // The line, or how it ended if it said nothing.
  std::string reason() const;
};

class HandlerProcesses {
 public:
  explicit HandlerProcesses(std::string command) : command_(std::move(command)) {}
  HandlerProcesses(const HandlerProcesses&) = delete;
  HandlerProcesses& operator=(const HandlerProcesses&) = delete;

  // Failure input_output when no process can be started.
  HandlerResult run(const HandlerRun& run);
  // SIGTERM to every running command and what it started.
  void terminate_all();

 private:
  std::string command_;
  std::mutex mutex_;
  std::set<pid_t> running_;
};

// Keeps the last line that is not empty of bytes that come in pieces; bounded.
class LastLine {
 public:
  void add(std::string_view bytes);
  std::string text() const;

 private:
  std::string last_;
  std::string current_;
};

}  // namespace sluice::cli
