#include "cli/failure.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace sluice;
using namespace sluice::cli;

namespace {

ClientError client_error(int code, const std::string& hint = {}) {
  return {code, "some_name", "some text", false, hint};
}

}  // namespace

TEST_CASE("failure: every error of the table has the table's exit code") {
  for (const ErrorInfo& info : error_table())
    CHECK_MESSAGE(static_cast<int>(exit_of(client_error(static_cast<int>(info.code)))) == info.exit_code, info.name);
}

TEST_CASE("failure: the library's own errors have theirs") {
  CHECK(exit_of(client_error(kErrorTimeout)) == Exit::unreachable);
  CHECK(exit_of(client_error(kErrorNotConnected)) == Exit::unreachable);
  CHECK(exit_of(client_error(kErrorConnectionLost)) == Exit::unreachable);
  CHECK(exit_of(client_error(kErrorBadArgument)) == Exit::usage);
  CHECK(exit_of(client_error(kErrorClosed)) == Exit::failed);
}

TEST_CASE("failure: numbers that nobody knows are plain failures") {
  CHECK(exit_of(client_error(999)) == Exit::failed);
  CHECK(exit_of(client_error(-5)) == Exit::failed);
  CHECK(exit_of(client_error(123'456)) == Exit::failed);
}

TEST_CASE("failure: a hint is the error's own, else the table's") {
  CHECK(failure_of(client_error(201, "mine")).hint() == "mine");
  CHECK(failure_of(client_error(201)).hint() == std::string(error_info(ErrorCode::unknown_queue).hint));
  CHECK_FALSE(failure_of(client_error(kErrorNotConnected)).hint().empty());
}
