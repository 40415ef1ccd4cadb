#pragma once
// clients/cpp/errors.h: makes ClientErrors.
//
// Source   spec/errors.json for the broker's numbers; sluice/error.h for the library's own.

#include <string>

#include "base/error.h"
#include "sluice/error.h"
#include "wire/frames.h"

namespace sluice::internal {

// An error of the table, found by the library itself or named by a frame. An empty text stands for the table's.
ClientError make_error(ErrorCode code, const std::string& text = {});
ClientError make_error(const wire::ErrorBody& body);
// For frames that carry only a number.
ClientError make_error(std::uint64_t code, const std::string& text = {});

// code: one of kErrorTimeout ... of sluice/error.h.
ClientError make_local_error(int code, const std::string& text);

}  // namespace sluice::internal
