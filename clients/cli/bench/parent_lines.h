#pragma once
// cli/bench/parent_lines.h: what the leading process says to this one, a line at a time on stdin.
//
// Threads  calls on_line on its own thread, from the constructor to the destructor.
// Errors   a leader that is gone ends this process: nobody would read its figures.

#include <functional>
#include <string>
#include <thread>

namespace sluice::cli {

class ParentLines {
 public:
  explicit ParentLines(std::function<void(const std::string& line)> on_line);
  ~ParentLines();
  ParentLines(const ParentLines&) = delete;
  ParentLines& operator=(const ParentLines&) = delete;

 private:
  void run();

  std::function<void(const std::string& line)> on_line_;
  int wake_;
  std::thread thread_;
};

}  // namespace sluice::cli
