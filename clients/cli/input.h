#pragma once
// cli/input.h: message bodies from stdin or a file.
//
// Errors   Failure input_output, which names the file and the reason; with exit 2 if there is no such file to begin with.

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::cli {

class Input {
 public:
  // Stdin if `path` is "" or "-".
  explicit Input(const std::string& path);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  std::string whole();
  // The next line without its newline; an unfinished last line is one too. Valid until the next call.
  std::optional<std::string_view> line();

 private:
  [[noreturn]] void refuse(int error) const;

  std::string name_;
  std::FILE* file_;
  char* buffer_ = nullptr;  // getline's
  std::size_t capacity_ = 0;
};

}  // namespace sluice::cli
