#pragma once
// base/error.h: the stable error numbers, and errors as values.
//
// Place    every folder above base.
// Source   spec/errors.json; tests/unit/base/error_test.cpp checks that table and this one against each other.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

enum class ErrorCode : std::uint16_t {
#define SLUICE_ERROR(number, name, retry, exit_code, text, hint) name = number,
#include "base/errors.inc"
#undef SLUICE_ERROR
};

struct ErrorInfo {
  ErrorCode code;
  std::string_view name;
  bool retry;
  int exit_code;
  std::string_view text;
  std::string_view hint;
};

// All of them, by number.
std::span<const ErrorInfo> error_table();
const ErrorInfo& error_info(ErrorCode code);
// For numbers that come from a peer; nullptr if unknown.
const ErrorInfo* find_error(std::uint64_t number);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string text;
  std::uint64_t retry_after_ms = 0;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string text) {
  return tl::unexpected<Error>(Error{code, std::move(text), 0});
}

}  // namespace sluice
