#include "cli/input.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "cli/failure.h"

using namespace sluice::cli;

namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) {
    const int file = mkstemp(path_.data());
    REQUIRE(write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    close(file);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/sluice_input_test_XXXXXX";
};

}  // namespace

TEST_CASE("input: a line is what is before its newline; empty ones and an unfinished last one count") {
  const TemporaryFile file(std::string_view("a\n\nwith\0nul\r\nlast", 17));
  Input input(file.path());
  CHECK(input.line() == "a");
  CHECK(input.line() == "");
  CHECK(input.line() == std::string_view("with\0nul\r", 9));
  CHECK(input.line() == "last");
  CHECK_FALSE(input.line());
}

TEST_CASE("input: the whole is every byte") {
  const std::string content = std::string(200'000, 'x') + std::string("\n\0\n", 3);
  const TemporaryFile file(content);
  CHECK(Input(file.path()).whole() == content);
}

TEST_CASE("input: a file that is not there is the user's error, a folder cannot be read") {
  try {
    Input("/nonexistent/file");
    FAIL("opened");
  } catch (const Failure& failure) {
    CHECK(failure.exit() == Exit::usage);
    CHECK(std::string(failure.what()) == "cannot open /nonexistent/file: No such file or directory");
  }
  Input folder("/tmp");
  CHECK_THROWS_AS(folder.line(), Failure);
}
