#include "io/disk.h"

#include <system_error>

namespace sluice::io {

std::string IoError::text() const { return call + " " + file + ": " + std::generic_category().message(number); }

}  // namespace sluice::io
