#pragma once
// cli/version.h: what --version says. The version is CMake's (SLUICE_VERSION).

namespace sluice::cli {

inline constexpr const char* kVersion = SLUICE_VERSION;
inline constexpr int kProtocol = 1;

}  // namespace sluice::cli
