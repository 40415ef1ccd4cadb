// wire/decode_client.cpp: frames to the broker, all fields but those of PUBLISH and SETTLE.
//
// Source   spec/protocol.md sections 4 to 10.

#include <limits>

#include "wire/cat.h"
#include "wire/decode.h"

namespace sluice::wire {
namespace {

constexpr std::size_t kHelloTextBytesMax = 255;
constexpr std::size_t kProducerBytes = 16;
constexpr std::uint64_t kHeartbeatMsMin = 100;
constexpr std::uint64_t kHeartbeatMsMax = 60'000;

bool hello_text(Reader& reader, const Path& path, std::string& out) {
  const Token token = reader.peek();
  if (!reader.text(path, out)) return false;
  if (out.size() <= kHelloTextBytesMax) return true;
  return reader.refuse(path, cat("must be at most ", kHelloTextBytesMax, " bytes"), token);
}

bool producer(Reader& reader, const Path& path, std::string& out) {
  const Token token = reader.peek();
  std::string_view bytes;
  if (!reader.bin(path, bytes)) return false;
  if (bytes.size() != kProducerBytes) return reader.refuse(path, "must be 16 bytes", token);
  out = bytes;
  return true;
}

bool hello_options(Reader& reader, const Path& path, Hello& out) {
  static constexpr std::string_view kNames[] = {"client", "agent", "producer", "heartbeat_ms"};
  return read_options(reader, path, kNames, UnknownKeys::ignore, [&](std::size_t name, const Path& at) {
    switch (name) {
      case 0:
        return hello_text(reader, at, out.client);
      case 1:
        return hello_text(reader, at, out.agent);
      case 2:
        return producer(reader, at, out.producer);
      default:
        return reader.uint_within(at, kHeartbeatMsMin, kHeartbeatMsMax, out.heartbeat_ms.emplace());
    }
  });
}

bool read(Reader& reader, Fields& fields, Hello& out) {
  return fields.uint("protocol", out.protocol) &&
         fields.optional("options", [&](const Path& path) { return hello_options(reader, path, out); });
}

bool read(Reader& reader, Fields& fields, Consume& out) {
  static constexpr std::string_view kNames[] = {"topic", "policy"};
  const auto options = [&](const Path& path) {
    return read_options(reader, path, kNames, UnknownKeys::refuse, [&](std::size_t name, const Path& at) {
      return name == 0 ? reader.text(at, out.topic) : reader.map(at, out.policy);
    });
  };
  return fields.uint("request", out.request) && fields.uint("consumer", out.consumer) &&
         fields.text("queue", out.queue) && fields.uint("credit_messages", out.credit_messages) &&
         fields.uint("credit_bytes", out.credit_bytes) && fields.optional("options", options);
}

bool read(Reader&, Fields& fields, Cancel& out) {
  return fields.uint("request", out.request) && fields.uint("consumer", out.consumer);
}

// Which arguments a verb knows is the business of whoever carries it out.
bool read(Reader& reader, Fields& fields, Request& out) {
  return fields.uint("request", out.request) && fields.text("verb", out.verb) &&
         fields.optional("arguments", [&](const Path& path) { return reader.map(path, out.arguments); });
}

bool read(Reader& reader, Fields& fields, Heartbeat& out) { return read_heartbeat(reader, fields, out); }
bool read(Reader& reader, Fields& fields, Bye& out) { return read_bye(reader, fields, out); }
bool read(Reader& reader, Fields& fields, Publish& out) { return read_publish(reader, fields, out); }
bool read(Reader& reader, Fields& fields, Settle& out) { return read_settle(reader, fields, out); }

template <class Frame>
bool read_into(ClientFrame& out, const Tape& tape, std::string_view name, DecodeError& error) {
  return read_frame(tape, name, error,
                    [&](Reader& reader, Fields& fields) { return read(reader, fields, out.emplace<Frame>()); });
}

bool read_any(std::uint64_t type, const Tape& tape, ClientFrame& out, DecodeError& error) {
  // A number that does not fit must not be cut down to one that is known.
  if (type > std::numeric_limits<std::uint8_t>::max()) return unknown_type(type, "broker", error);
  switch (static_cast<FrameType>(type)) {
    case FrameType::heartbeat:
      return read_into<Heartbeat>(out, tape, "HEARTBEAT", error);
    case FrameType::bye:
      return read_into<Bye>(out, tape, "BYE", error);
    case FrameType::hello:
      return read_into<Hello>(out, tape, "HELLO", error);
    case FrameType::publish:
      return read_into<Publish>(out, tape, "PUBLISH", error);
    case FrameType::consume:
      return read_into<Consume>(out, tape, "CONSUME", error);
    case FrameType::cancel:
      return read_into<Cancel>(out, tape, "CANCEL", error);
    case FrameType::settle:
      return read_into<Settle>(out, tape, "SETTLE", error);
    case FrameType::request:
      return read_into<Request>(out, tape, "REQUEST", error);
    case FrameType::error:
    case FrameType::welcome:
    case FrameType::confirm:
    case FrameType::reply:
    case FrameType::deliver:
    case FrameType::lease_lost:
    case FrameType::consumer_closed:
    case FrameType::settled:
    case FrameType::draining:
      break;
  }
  return unknown_type(type, "broker", error);
}

// The number at `field` of the frame, if the frame got that far.
std::optional<std::uint64_t> number_at(const Tape& tape, std::size_t field) {
  const std::size_t at = field_at(tape, field);
  if (at >= tape.tokens().size() || tape.tokens()[at].kind != Kind::uint) return std::nullopt;
  return tape.tokens()[at].number;
}

// Whom the answer should name. Looks at the tape alone, so that it works for every way of being wrong.
void name_asker(const Tape& tape, DecodeError& error) {
  const std::optional<std::uint64_t> type = frame_type(tape);
  if (!type) return;
  if (*type == static_cast<std::uint64_t>(FrameType::publish)) {
    const std::optional<std::uint64_t> sequence = number_at(tape, 2);
    const std::size_t messages = field_at(tape, 3);
    if (!sequence || messages >= tape.tokens().size() || tape.tokens()[messages].kind != Kind::array) return;
    error.first_sequence = sequence;
    error.message_count = tape.tokens()[messages].count;
  } else if (*type >= static_cast<std::uint64_t>(FrameType::consume) &&
             *type <= static_cast<std::uint64_t>(FrameType::request)) {
    error.request = number_at(tape, 1);
  }
}

}  // namespace

tl::expected<ClientFrame, DecodeError> decode_client_frame(std::string_view frame) {
  thread_local Tape tape;
  DecodeError error;
  tl::expected<ClientFrame, DecodeError> out;
  if (const ScanError scanned = tape.scan(frame); scanned != ScanError::none) {
    error = scan_failure(scanned, "frame");
  } else if (const std::optional<std::uint64_t> type = frame_type(tape); !type) {
    error = no_type();
  } else if (read_any(*type, tape, *out, error)) {
    return out;
  }
  name_asker(tape, error);
  return tl::unexpected(std::move(error));
}

}  // namespace sluice::wire
