#pragma once
// wire/decode.h: what the two directions of decoding share.
//
// Place    only inside wire: tape and reader -> [decode_*.cpp] -> frames.h.
// Source   spec/protocol.md section 4.

#include <optional>
#include <string_view>

#include "wire/frames.h"
#include "wire/reader.h"

namespace sluice::wire {

// The first element of the frame's array, if there is one and it is a number.
std::optional<std::uint64_t> frame_type(const Tape& tape);
// Where element `field` (0 is the type) begins; at or behind the end of the tokens if the frame does not get there.
std::size_t field_at(const Tape& tape, std::size_t field);

DecodeError no_type();
// Records unknown_frame and returns false. `receiver` is "broker" or "client".
bool unknown_type(std::uint64_t type, std::string_view receiver, DecodeError& error);

// Reads one frame whose type is known: `read(reader, fields)` reads its fields after the type.
template <class Read>
bool read_frame(const Tape& tape, std::string_view name, DecodeError& error, Read read) {
  Reader reader(tape, error);
  const Path path(name);
  Fields fields(reader, path);
  std::uint64_t type = 0;
  return fields.open() && fields.uint("type", type) && read(reader, fields) && fields.close();
}

bool read_heartbeat(Reader& reader, Fields& fields, Heartbeat& out);
bool read_bye(Reader& reader, Fields& fields, Bye& out);
bool read_publish(Reader& reader, Fields& fields, Publish& out);
bool read_settle(Reader& reader, Fields& fields, Settle& out);

// Whether `bytes` are one map as decode_map reads it. Only the code and no text of a failure.
bool is_map(std::string_view bytes);

}  // namespace sluice::wire
