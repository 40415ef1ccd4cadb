#pragma once
// wire/pack.h: writes MessagePack values into a Buffer, always in the shortest format.
//
// Place    only inside wire: frame -> [pack] -> Buffer.
// Owns     nothing; the Buffer outlives it.
// Threads  one.

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <msgpack.hpp>

#include "base/check.h"
#include "wire/buffer.h"
#include "wire/frames.h"

namespace sluice::wire {

class Pack {
 public:
  explicit Pack(Buffer& out) : out_(out), packer_(out) {}

  Pack& array(std::size_t count) { return packer_.pack_array(narrow(count)), *this; }
  Pack& map(std::size_t pairs) { return packer_.pack_map(narrow(pairs)), *this; }
  Pack& nil() { return packer_.pack_nil(), *this; }
  Pack& uint(std::uint64_t v) { return packer_.pack_uint64(v), *this; }
  Pack& negative(std::int64_t v) { return packer_.pack_int64(v), *this; }
  Pack& boolean(bool v) { return (v ? packer_.pack_true() : packer_.pack_false()), *this; }
  Pack& text(std::string_view v) {
    packer_.pack_str(narrow(v.size()));
    return body(v);
  }
  Pack& bin(std::string_view v) {
    packer_.pack_bin(narrow(v.size()));
    return body(v);
  }
  Pack& real(double v);
  Pack& value(const Value& v);
  Pack& map(const Map& v);

  Pack& type(FrameType v) { return uint(static_cast<std::uint64_t>(v)); }
  Pack& uint_or_nil(const std::optional<std::uint64_t>& v) { return v ? uint(*v) : nil(); }

 private:
  // MessagePack counts in 32 bits. No frame comes near: whoever fills one has checked frame_bytes_max.
  static std::uint32_t narrow(std::size_t count) {
    SLUICE_CHECK(count <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(count);
  }

  Pack& body(std::string_view v) {
    if (!v.empty()) out_.append(v);  // an empty view may point nowhere
    return *this;
  }

  Buffer& out_;
  msgpack::packer<Buffer> packer_;
};

// One element of PUBLISH messages and of DELIVER deliveries; encode() and the writers share them.
void pack_message(Pack& pack, const PublishMessage& message);
void pack_delivery(Pack& pack, const Delivery& delivery);

}  // namespace sluice::wire
