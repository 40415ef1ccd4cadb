#pragma once
// sim/describe.h: a frame as one line, for traces.

#include <string>

#include "wire/frames.h"

namespace sluice::sim {

std::string describe(const wire::ClientFrame& frame);
std::string describe(const wire::BrokerFrame& frame);

// A message's number, which its payload begins with; 0 if it has none.
std::uint64_t serial_of(std::string_view payload);

}  // namespace sluice::sim
