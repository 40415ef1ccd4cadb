#pragma once
// clients/cpp/random.h: randomness of the kernel.

#include <string>

namespace sluice::internal {

std::string random_bytes(std::size_t count);

}  // namespace sluice::internal
