#pragma once
// wire/utf8.h: tells text from bytes.
//
// Threads  any.
// Source   RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF.

#include <string_view>

namespace sluice::wire {

bool valid_utf8(std::string_view text);

}  // namespace sluice::wire
