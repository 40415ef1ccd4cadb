#pragma once
// wire/errors.h: an error of the table as the `error` array of a frame.

#include <string>
#include <utility>

#include "base/error.h"
#include "wire/frames.h"

namespace sluice::wire {

inline ErrorBody error_body(const Error& error) {
  const ErrorInfo& info = error_info(error.code);
  return {static_cast<std::uint64_t>(error.code), std::string(info.name), error.text, info.retry, error.retry_after_ms};
}

inline ErrorBody error_body(ErrorCode code, std::string text) { return error_body(Error{code, std::move(text), 0}); }

}  // namespace sluice::wire
