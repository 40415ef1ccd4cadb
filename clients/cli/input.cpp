#include "cli/input.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/failure.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

}  // namespace

Input::Input(const std::string& path) : name_(path.empty() || path == "-" ? "stdin" : path) {
  file_ = name_ == "stdin" ? stdin : std::fopen(path.c_str(), "rbe");
  if (file_ != nullptr) return;
  throw Failure(Exit::usage, kErrorInputOutput, "input_output", "cannot open " + name_ + ": " + std::strerror(errno));
}

Input::~Input() {
  std::free(buffer_);
  if (file_ != stdin) std::fclose(file_);
}

std::string Input::whole() {
  std::string all;
  std::array<char, kReadBytes> part;
  std::size_t got = 0;
  while ((got = std::fread(part.data(), 1, part.size(), file_)) > 0) all.append(part.data(), got);
  if (std::ferror(file_) != 0) refuse(errno);
  return all;
}

std::optional<std::string_view> Input::line() {
  const ssize_t length = getline(&buffer_, &capacity_, file_);
  if (length < 0) {
    if (std::ferror(file_) != 0) refuse(errno);
    return std::nullopt;
  }
  std::string_view text(buffer_, static_cast<std::size_t>(length));
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

void Input::refuse(int error) const {
  throw input_output_failure("cannot read " + name_ + ": " + std::strerror(error));
}

}  // namespace sluice::cli
