#pragma once
// base/crc32c.h: the checksum of the journal (CRC32C, Castagnoli).
//
// Shapes   crc32c(b, crc32c(a)) is the checksum of a and b together.
// Source   spec/journal.md; the vectors of RFC 3720 in tests/unit/base/crc32c_test.cpp.

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// By the processor's instruction where there is one.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

// The same by a table, on any processor; for tests, and where there is no instruction.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace sluice
