#include "base/error.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace sluice {
namespace {

constexpr std::array kTable = {
#define SLUICE_ERROR(number, name, retry, exit_code, text, hint) \
  ErrorInfo{ErrorCode::name, #name, retry, exit_code, text, hint},
#include "base/errors.inc"
#undef SLUICE_ERROR
};

}  // namespace

std::span<const ErrorInfo> error_table() { return kTable; }

const ErrorInfo& error_info(ErrorCode code) {
  const ErrorInfo* const info = find_error(static_cast<std::uint64_t>(code));
  SLUICE_CHECK(info != nullptr);
  return *info;
}

const ErrorInfo* find_error(std::uint64_t number) {
  const auto found = std::ranges::lower_bound(
      kTable, number, {}, [](const ErrorInfo& info) { return static_cast<std::uint64_t>(info.code); });
  if (found == kTable.end() || static_cast<std::uint64_t>(found->code) != number) return nullptr;
  return &*found;
}

}  // namespace sluice
