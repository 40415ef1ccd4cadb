// Fuzzes the decoder of one map, as headers are.

#include "stable.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::wire::check_stable(data, size, sluice::wire::decode_map);
  return 0;
}
