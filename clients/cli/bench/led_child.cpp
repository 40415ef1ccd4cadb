#include "cli/bench/led_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/failure.h"

namespace sluice::cli {
namespace {

[[noreturn]] void refuse(const char* what, int error) {
  throw input_output_failure("cannot start a process of the benchmark: " + std::string(what) + ": " +
                             std::strerror(error));
}

std::array<int, 2> open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse("pipe", errno);
  return ends;
}

pid_t spawn_self(std::vector<std::string>& arguments, int input, int output) {
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) refuse("/proc/self/exe", error);
  return child;
}

}  // namespace

LedChild::LedChild(std::vector<std::string> arguments, std::function<void(const Json& line)> on_line)
    : on_line_(std::move(on_line)) {
  arguments.insert(arguments.begin(), "sluice");
  const std::array<int, 2> input = open_pipe();
  const std::array<int, 2> output = open_pipe();
  process_ = spawn_self(arguments, input[0], output[1]);
  close(input[0]);
  close(output[1]);
  to_child_ = input[1];
  from_child_ = output[0];
  reader_ = std::thread([this] { read_lines(); });
}

LedChild::~LedChild() {
  close(to_child_);
  reader_.join();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
}

void LedChild::tell(const std::string& line) {
  const std::string text = line + "\n";
  // A line is far below PIPE_BUF: written whole or not at all. A child that is gone shows as the end of its lines.
  while (write(to_child_, text.data(), text.size()) < 0 && errno == EINTR) {
  }
}

void LedChild::read_lines() {
  std::FILE* const lines = fdopen(from_child_, "r");
  char* buffer = nullptr;
  std::size_t capacity = 0;
  while (lines != nullptr && getline(&buffer, &capacity, lines) > 0) {
    const Json line = Json::parse(buffer, nullptr, false);
    if (line.is_object()) on_line_(line);
  }
  std::free(buffer);
  if (lines != nullptr) std::fclose(lines);
  on_line_(nullptr);
}

}  // namespace sluice::cli
