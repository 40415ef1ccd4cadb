#pragma once
// config/address.h: the endpoints that `sluiced` may listen on.

#include <string_view>

#include "base/error.h"

namespace sluice::config {

// tcp://HOST:PORT (PORT 1 to 65535, or 0 or * for one that the system chooses) or ipc://PATH. Errors: bad_field.
Result<void> check_listen_address(std::string_view address);

// Nobody but this machine can reach it. Strict: a host name other than localhost is not, whatever it resolves to today.
// REQUIRES: check_listen_address() found it good.
bool is_local_address(std::string_view address);

}  // namespace sluice::config
