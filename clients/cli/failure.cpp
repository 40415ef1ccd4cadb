#include "cli/failure.h"

#include "base/error.h"

namespace sluice::cli {
namespace {

constexpr int kFirstLibraryCode = 1000;

Exit exit_of_library_code(int code) {
  switch (code) {
    case kErrorTimeout:
    case kErrorNotConnected:
    case kErrorConnectionLost:
      return Exit::unreachable;
    case kErrorBadArgument:
      return Exit::usage;
    default:
      return Exit::failed;
  }
}

std::string hint_of(const ClientError& error) {
  if (!error.hint().empty()) return error.hint();
  if (error.code() == kErrorNotConnected) return "start sluiced, or name its address with --url or SLUICE_URL";
  if (error.code() == kErrorTimeout) return "the broker may be busy; --timeout waits longer";
  if (error.code() < 0 || error.code() >= kFirstLibraryCode) return {};
  const ErrorInfo* const info = find_error(static_cast<std::uint64_t>(error.code()));
  return info == nullptr ? std::string{} : std::string(info->hint);
}

}  // namespace

Failure usage_failure(const std::string& message, std::string hint) {
  return {Exit::usage, kErrorUsage, "usage", message, std::move(hint)};
}

Failure input_output_failure(const std::string& message, std::string hint) {
  return {Exit::failed, kErrorInputOutput, "input_output", message, std::move(hint)};
}

Failure empty_failure(const std::string& message) { return {Exit::empty, kErrorEmpty, "empty", message}; }

Failure later_failure(const std::string& what) {
  return {Exit::usage, kErrorNotInThisVersion, "not_in_this_version", "not in this version: " + what};
}

Exit exit_of(const ClientError& error) {
  if (error.code() >= kFirstLibraryCode) return exit_of_library_code(error.code());
  if (error.code() < 0) return Exit::failed;
  const ErrorInfo* const info = find_error(static_cast<std::uint64_t>(error.code()));
  return info == nullptr ? Exit::failed : static_cast<Exit>(info->exit_code);
}

Failure failure_of(const ClientError& error) {
  return {exit_of(error), error.code(), error.name(), error.what(), hint_of(error)};
}

}  // namespace sluice::cli
