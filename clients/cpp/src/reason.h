#pragma once
// clients/cpp/reason.h: makes any text fit to be the reason of a settlement.

#include <string>
#include <string_view>

namespace sluice::internal {

// At most 1,024 bytes of valid UTF-8: what is not valid becomes '?'. One bad text would have the broker refuse the whole
// frame, and with it the settlements of others.
std::string clean_reason(std::string_view text);

}  // namespace sluice::internal
