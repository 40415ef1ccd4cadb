#pragma once
// cli/bench/led_child.h: a child process of the benchmark, and the lines to and from it.
//
// Threads  one reader thread a child calls on_line; tell() from any thread.
// Owns     the process: it ends when its stdin is closed, which the destructor does and waits for.

#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cli/output.h"

namespace sluice::cli {

class LedChild {
 public:
  // `on_line` gets each object it prints, and null at its end.
  LedChild(std::vector<std::string> arguments, std::function<void(const Json& line)> on_line);
  ~LedChild();
  LedChild(const LedChild&) = delete;
  LedChild& operator=(const LedChild&) = delete;

  void tell(const std::string& line);

 private:
  void read_lines();

  std::function<void(const Json& line)> on_line_;
  pid_t process_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::thread reader_;
};

}  // namespace sluice::cli
