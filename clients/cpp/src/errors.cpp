#include "errors.h"

#include <array>
#include <string_view>

#include "base/check.h"

namespace sluice::internal {
namespace {

struct LocalError {
  int code;
  std::string_view name;
  bool retry;
  std::string_view hint;
};

constexpr std::array kLocalErrors = {
    LocalError{kErrorTimeout, "timeout", true,
               "the broker did not answer in time; raise the timeout, or look at its load"},
    LocalError{kErrorNotConnected, "not_connected", true, "is the broker running, and is this its address?"},
    LocalError{kErrorClosed, "closed", false, "open a new one"},
    LocalError{kErrorBadArgument, "bad_argument", false, "the text names the argument, the rule and the value"},
    LocalError{kErrorConnectionLost, "connection_lost", true, "look whether it was carried out before doing it again"},
};

}  // namespace

ClientError make_error(ErrorCode code, const std::string& text) {
  const ErrorInfo& info = error_info(code);
  return {static_cast<int>(info.code), std::string(info.name), text.empty() ? std::string(info.text) : text, info.retry,
          std::string(info.hint)};
}

ClientError make_error(const wire::ErrorBody& body) {
  const ErrorInfo* const info = find_error(body.code);
  const std::string text = !body.text.empty() ? body.text : info != nullptr ? std::string(info->text) : body.name;
  return {static_cast<int>(body.code), body.name, text, body.retry, info != nullptr ? std::string(info->hint) : "",
          body.retry_after_ms};
}

ClientError make_error(std::uint64_t code, const std::string& text) {
  if (const ErrorInfo* const info = find_error(code)) return make_error(info->code, text);
  // A broker newer than this library.
  const std::string name = "error_" + std::to_string(code);
  return {static_cast<int>(code), name, text.empty() ? name : text, false, ""};
}

ClientError make_local_error(int code, const std::string& text) {
  for (const LocalError& error : kLocalErrors) {
    if (error.code == code) return {code, std::string(error.name), text, error.retry, std::string(error.hint)};
  }
  check_failed("known local error", __FILE__, __LINE__);
}

}  // namespace sluice::internal
