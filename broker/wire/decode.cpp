#include "wire/decode.h"

#include "wire/cat.h"

namespace sluice::wire {

std::optional<std::uint64_t> frame_type(const Tape& tape) {
  const std::span<const Token> tokens = tape.tokens();
  if (tokens.size() < 2 || tokens[0].kind != Kind::array || tokens[1].kind != Kind::uint) return std::nullopt;
  return tokens[1].number;
}

std::size_t field_at(const Tape& tape, std::size_t field) {
  std::size_t at = 1;
  for (; field > 0 && at < tape.tokens().size(); --field) at = tape.skip(at);
  return at;
}

DecodeError no_type() {
  DecodeError error;
  error.code = ErrorCode::malformed_frame;
  error.text = "frame: must be an array that begins with the number of its type";
  return error;
}

bool unknown_type(std::uint64_t type, std::string_view receiver, DecodeError& error) {
  error.code = ErrorCode::unknown_frame;
  error.text = cat("frame: type ", type, " is none of the frames to a ", receiver);
  return false;
}

bool read_heartbeat(Reader&, Fields&, Heartbeat&) { return true; }

bool read_bye(Reader& reader, Fields& fields, Bye& out) {
  return fields.optional_uint("code", out.code) &&
         fields.optional("text", [&](const Path& path) { return reader.text(path, out.text); });
}

bool is_map(std::string_view bytes) {
  // Apart from the frame's own tape, which is still being read.
  thread_local Tape tape;
  if (tape.scan(bytes) != ScanError::none || tape.tokens().front().kind != Kind::map) return false;
  DecodeError ignored;
  Reader reader(tape, ignored);
  return reader.check(Path("map"));
}

tl::expected<Map, DecodeError> decode_map(std::string_view bytes) {
  thread_local Tape tape;
  DecodeError error;
  Map out;
  if (const ScanError scanned = tape.scan(bytes); scanned != ScanError::none) {
    return tl::unexpected(scan_failure(scanned, "map"));
  }
  if (!Reader(tape, error).map(Path("map"), out)) return tl::unexpected(std::move(error));
  return out;
}

}  // namespace sluice::wire
