#pragma once
// clients/cpp/headers.h: Headers <-> one encoded MessagePack map.
//
// Shapes   negative integers come back as int64, all others as uint64, whatever they went in as: the wire does not tell.

#include <string_view>

#include "sluice/client.h"
#include "wire/buffer.h"

namespace sluice::internal {

// Appends to `out`; nothing for no headers. Throws headers_too_large, bad_headers.
void encode_headers(const Headers& headers, wire::Buffer& out);

// What does not fit a HeaderValue (nil, arrays, maps) is left out, as are headers that cannot be decoded.
Headers decode_headers(std::string_view encoded);

}  // namespace sluice::internal
