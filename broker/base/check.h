#pragma once
// base/check.h: SLUICE_CHECK states what must hold if our own code is right. Always on; a violation stops the process,
// because state that cannot be trusted must not be served.

namespace sluice {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace sluice

#define SLUICE_CHECK(condition)                               \
  do {                                                        \
    if (!(condition)) [[unlikely]]                            \
      ::sluice::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
