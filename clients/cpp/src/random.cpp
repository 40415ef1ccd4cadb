#include "random.h"

#include <sys/random.h>

#include "base/check.h"

namespace sluice::internal {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  SLUICE_CHECK(getrandom(bytes.data(), count, 0) == static_cast<ssize_t>(count));  // whole up to 256 bytes
  return bytes;
}

}  // namespace sluice::internal
