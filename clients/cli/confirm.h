#pragma once
// cli/confirm.h: asks before something is destroyed.

#include <string>

namespace sluice::cli {

// Returns when `force`, or when the user on the terminal says yes. Failure usage without a terminal (nobody could be asked),
// not_confirmed when the answer is anything else.
void require_confirmation(bool force, const std::string& what);

}  // namespace sluice::cli
