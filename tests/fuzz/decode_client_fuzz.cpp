// Fuzzes the decoder of frames to the broker.

#include "stable.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::wire::check_stable(data, size, sluice::wire::decode_client_frame);
  return 0;
}
