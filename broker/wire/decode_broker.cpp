// wire/decode_broker.cpp: frames to the client.
//
// Source   spec/protocol.md sections 4 to 10.

#include <limits>

#include "wire/cat.h"
#include "wire/decode.h"

namespace sluice::wire {
namespace {

bool error_body(Reader& reader, const Path& path, ErrorBody& out) {
  Fields fields(reader, path);
  return fields.open() && fields.uint("code", out.code) && fields.text("name", out.name) &&
         fields.text("text", out.text) &&
         fields.required("retry", [&](const Path& at) { return reader.boolean(at, out.retry); }) &&
         fields.optional_uint("retry_after_ms", out.retry_after_ms) && fields.close();
}

auto error_reader(Reader& reader, ErrorBody& out) {
  return [&](const Path& path) { return error_body(reader, path, out); };
}

bool read(Reader& reader, Fields& fields, Heartbeat& out) { return read_heartbeat(reader, fields, out); }
bool read(Reader& reader, Fields& fields, Bye& out) { return read_bye(reader, fields, out); }

bool read(Reader& reader, Fields& fields, ErrorFrame& out) {
  return fields.required("error", error_reader(reader, out.error)) && fields.optional_uint("request", out.request);
}

bool texts(Reader& reader, const Path& path, std::vector<std::string>& out) {
  return reader.items(path, out, [&](const Path& at, std::string& item) { return reader.text(at, item); });
}

bool welcome_options(Reader& reader, const Path& path, Welcome& out) {
  static constexpr std::string_view kNames[] = {"broker",
                                                "heartbeat_ms",
                                                "publish_messages",
                                                "publish_bytes",
                                                "frame_bytes_max",
                                                "credit_messages_max",
                                                "credit_bytes_max",
                                                "sync",
                                                "producer_sequence",
                                                "features"};
  OptionKeys keys(reader, path, kNames, UnknownKeys::ignore);
  if (!keys.open()) return false;
  for (std::size_t name = 0; keys.next(name);) {
    const Path at = path.owner().child(kNames[name]);
    bool ok = false;
    switch (name) {
      case 0:
        ok = reader.text(at, out.broker);
        break;
      case 1:
        ok = reader.uint(at, out.heartbeat_ms);
        break;
      case 2:
        ok = reader.uint(at, out.publish_messages);
        break;
      case 3:
        ok = reader.uint(at, out.publish_bytes);
        break;
      case 4:
        ok = reader.uint(at, out.frame_bytes_max);
        break;
      case 5:
        ok = reader.uint(at, out.credit_messages_max);
        break;
      case 6:
        ok = reader.uint(at, out.credit_bytes_max);
        break;
      case 7:
        ok = reader.text(at, out.sync);
        break;
      case 8:
        ok = reader.uint(at, out.producer_sequence);
        break;
      default:
        ok = texts(reader, at, out.features);
        break;
    }
    if (!ok) return false;
  }
  if (keys.failed()) return false;
  for (std::size_t name = 0; name < std::size(kNames); ++name) {
    if (!keys.seen(name))
      return reader.fail(ErrorCode::malformed_frame, path.owner().child(kNames[name]), "is missing");
  }
  return true;
}

bool read(Reader& reader, Fields& fields, Welcome& out) {
  return fields.uint("protocol", out.protocol) && fields.uint("session", out.session) &&
         fields.required("options", [&](const Path& path) { return welcome_options(reader, path, out); });
}

bool accepted(Reader& reader, const Path& path, Accepted& out) {
  Fields fields(reader, path);
  return fields.open() && fields.uint("first_sequence", out.first_sequence) && fields.uint("first_id", out.first_id) &&
         fields.uint("count", out.count) && fields.close();
}

bool refused(Reader& reader, const Path& path, Refused& out) {
  Fields fields(reader, path);
  return fields.open() && fields.uint("first_sequence", out.first_sequence) && fields.uint("count", out.count) &&
         fields.required("error", error_reader(reader, out.error)) && fields.close();
}

bool read(Reader& reader, Fields& fields, Confirm& out) {
  const auto all_accepted = [&](const Path& path) {
    return reader.items(path, out.accepted, [&](const Path& at, Accepted& item) { return accepted(reader, at, item); });
  };
  const auto all_refused = [&](const Path& path) {
    return reader.items(path, out.refused, [&](const Path& at, Refused& item) { return refused(reader, at, item); });
  };
  return fields.uint("up_to", out.up_to) && fields.required("accepted", all_accepted) &&
         fields.optional("refused", all_refused);
}

bool read(Reader& reader, Fields& fields, Reply& out) {
  const auto result = [&](const Path& path) {
    return reader.peek().kind == Kind::nil ? (reader.take(1), true) : reader.map(path, out.result.emplace());
  };
  const auto error = [&](const Path& path) { return error_body(reader, path, out.error.emplace()); };
  if (!fields.uint("request", out.request) || !fields.required("result", result) || !fields.optional("error", error)) {
    return false;
  }
  if (out.result.has_value() != out.error.has_value()) return true;
  return reader.fail(ErrorCode::bad_field, Path("REPLY"), "must have either a result or an error");
}

enum DeliveryOption : std::size_t { kHeaders, kPriority, kAttempts, kDead };

bool delivery_options(Reader& reader, const Path& path, Delivery& out) {
  static constexpr std::string_view kNames[] = {"headers", "priority", "attempts", "dead"};
  return read_options(reader, path, kNames, UnknownKeys::ignore, [&](std::size_t name, const Path& at) {
    switch (static_cast<DeliveryOption>(name)) {
      case kHeaders:
        return reader.bin(at, out.headers);
      case kAttempts:
        return reader.uint(at, out.attempts);
      case kDead:
        return reader.bin(at, out.dead);
      case kPriority:
        break;
    }
    std::uint64_t priority = 0;
    if (!reader.uint_within(at, 0, kPriorityMax, priority)) return false;
    out.priority = static_cast<std::uint8_t>(priority);
    return true;
  });
}

bool delivery(Reader& reader, const Path& path, Delivery& out) {
  Fields fields(reader, path);
  return fields.open() && fields.uint("id", out.id) && fields.uint("count", out.count) &&
         fields.required("payload", [&](const Path& at) { return reader.bin(at, out.payload); }) &&
         fields.optional("options", [&](const Path& at) { return delivery_options(reader, at, out); }) &&
         fields.close();
}

// [id, count, payload] and nothing more, which nearly every delivery is: four tokens, no call.
bool plain_delivery(Reader& reader, Delivery& out) {
  const Token* const token = reader.ahead();
  if (token[0].kind != Kind::array || token[0].count != 3) return false;
  if (token[1].kind != Kind::uint || token[2].kind != Kind::uint || token[3].kind != Kind::bin) return false;
  out.id = token[1].number;
  out.count = token[2].number;
  out.payload = token[3].view();
  reader.take(4);
  return true;
}

bool read(Reader& reader, Fields& fields, Deliver& out) {
  const auto deliveries = [&](const Path& path) {
    return reader.items(path, out.deliveries, [&](const Path& at, Delivery& item) {
      return plain_delivery(reader, item) || delivery(reader, at, item);
    });
  };
  return fields.uint("consumer", out.consumer) && fields.uint("first_lease", out.first_lease) &&
         fields.uint("lease_ms", out.lease_ms) && fields.required("deliveries", deliveries);
}

bool lease_range(Reader& reader, const Path& path, LeaseRange& out) {
  Fields fields(reader, path);
  return fields.open() && fields.uint("first_lease", out.first) && fields.uint("last_lease", out.last) &&
         fields.close();
}

bool read(Reader& reader, Fields& fields, LeaseLost& out) {
  const auto ranges = [&](const Path& path) {
    return reader.items(path, out.ranges,
                        [&](const Path& at, LeaseRange& item) { return lease_range(reader, at, item); });
  };
  return fields.uint("consumer", out.consumer) && fields.required("ranges", ranges) && fields.uint("code", out.code);
}

bool read(Reader& reader, Fields& fields, ConsumerClosed& out) {
  return fields.uint("consumer", out.consumer) && fields.required("error", error_reader(reader, out.error));
}

bool settle_exception(Reader& reader, const Path& path, SettleException& out) {
  Fields fields(reader, path);
  return fields.open() && fields.uint("first_lease", out.first_lease) && fields.uint("last_lease", out.last_lease) &&
         fields.uint("code", out.code) && fields.close();
}

bool read(Reader& reader, Fields& fields, Settled& out) {
  const auto exceptions = [&](const Path& path) {
    return reader.items(path, out.exceptions,
                        [&](const Path& at, SettleException& item) { return settle_exception(reader, at, item); });
  };
  return fields.uint_or_nil("request", out.request) && fields.required("exceptions", exceptions);
}

bool read(Reader&, Fields& fields, Draining& out) { return fields.uint("deadline_ms", out.deadline_ms); }

template <class Frame>
bool read_into(BrokerFrame& out, const Tape& tape, std::string_view name, DecodeError& error) {
  return read_frame(tape, name, error,
                    [&](Reader& reader, Fields& fields) { return read(reader, fields, out.emplace<Frame>()); });
}

bool read_any(std::uint64_t type, const Tape& tape, BrokerFrame& out, DecodeError& error) {
  // A number that does not fit must not be cut down to one that is known.
  if (type > std::numeric_limits<std::uint8_t>::max()) return unknown_type(type, "client", error);
  switch (static_cast<FrameType>(type)) {
    case FrameType::heartbeat:
      return read_into<Heartbeat>(out, tape, "HEARTBEAT", error);
    case FrameType::bye:
      return read_into<Bye>(out, tape, "BYE", error);
    case FrameType::error:
      return read_into<ErrorFrame>(out, tape, "ERROR", error);
    case FrameType::welcome:
      return read_into<Welcome>(out, tape, "WELCOME", error);
    case FrameType::confirm:
      return read_into<Confirm>(out, tape, "CONFIRM", error);
    case FrameType::reply:
      return read_into<Reply>(out, tape, "REPLY", error);
    case FrameType::deliver:
      return read_into<Deliver>(out, tape, "DELIVER", error);
    case FrameType::lease_lost:
      return read_into<LeaseLost>(out, tape, "LEASE_LOST", error);
    case FrameType::consumer_closed:
      return read_into<ConsumerClosed>(out, tape, "CONSUMER_CLOSED", error);
    case FrameType::settled:
      return read_into<Settled>(out, tape, "SETTLED", error);
    case FrameType::draining:
      return read_into<Draining>(out, tape, "DRAINING", error);
    case FrameType::hello:
    case FrameType::publish:
    case FrameType::consume:
    case FrameType::cancel:
    case FrameType::settle:
    case FrameType::request:
      break;
  }
  return unknown_type(type, "client", error);
}

}  // namespace

tl::expected<BrokerFrame, DecodeError> decode_broker_frame(std::string_view frame) {
  thread_local Tape tape;
  DecodeError error;
  tl::expected<BrokerFrame, DecodeError> out;
  if (const ScanError scanned = tape.scan(frame); scanned != ScanError::none) {
    return tl::unexpected(scan_failure(scanned, "frame"));
  }
  const std::optional<std::uint64_t> type = frame_type(tape);
  if (!type) return tl::unexpected(no_type());
  if (!read_any(*type, tape, *out, error)) return tl::unexpected(std::move(error));
  return out;
}

}  // namespace sluice::wire
