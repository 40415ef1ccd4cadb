// wire/decode_publish.cpp: PUBLISH to the broker; the hottest of all decoders.
//
// A plain message costs one token and no call. One message that cannot be read refuses the whole frame: which of the
// others the sender meant cannot be known once its encoder has been seen to be wrong.
//
// Source   spec/protocol.md section 7.

#include <limits>

#include "wire/cat.h"
#include "wire/decode.h"

namespace sluice::wire {
namespace {

enum Option : std::size_t { kHeaders, kPriority, kDelayMs, kTtlMs, kDedupKey };
constexpr std::string_view kOptions[] = {"headers", "priority", "delay_ms", "ttl_ms", "dedup_key"};

bool headers(Reader& reader, const Path& path, std::string_view& out) {
  if (!reader.bin(path, out)) return false;
  if (out.size() > kHeadersBytesMax) {
    return reader.fail(ErrorCode::headers_too_large, path,
                       cat("must be at most ", kHeadersBytesMax, " bytes, is ", out.size()));
  }
  if (is_map(out)) return true;
  return reader.fail(ErrorCode::bad_headers, path,
                     cat("must be one MessagePack map with str keys, is not (", out.size(), " bytes)"));
}

bool dedup_key(Reader& reader, const Path& path, std::string_view& out) {
  if (!reader.text(path, out)) return false;
  if (!out.empty() && out.size() <= kDedupKeyBytesMax) return true;
  return reader.fail(ErrorCode::bad_field, path, cat("must be 1 to ", kDedupKeyBytesMax, " bytes, is ", out.size()));
}

bool priority(Reader& reader, const Path& path, std::uint8_t& out) {
  std::uint64_t number = 0;
  if (!reader.uint_within(path, 0, kPriorityMax, number)) return false;
  out = static_cast<std::uint8_t>(number);
  return true;
}

bool options(Reader& reader, const Path& path, PublishMessage& out) {
  return read_options(reader, path, kOptions, UnknownKeys::refuse, [&](std::size_t name, const Path& at) {
    switch (static_cast<Option>(name)) {
      case kHeaders:
        return headers(reader, at, out.headers);
      case kPriority:
        return priority(reader, at, out.priority);
      case kDelayMs:
        return reader.uint_within(at, 0, kDelayMsMax, out.delay_ms);
      case kTtlMs:
        return reader.uint_within(at, 1, kDelayMsMax, out.ttl_ms);
      case kDedupKey:
        return dedup_key(reader, at, out.dedup_key);
    }
    return false;
  });
}

bool message_with_options(Reader& reader, const Path& path, PublishMessage& out) {
  const Token token = reader.peek();
  if (token.kind != Kind::array) return reader.refuse(path, "must be a bin, or an array of bin and map", token);
  Fields fields(reader, path);
  return fields.open() && fields.required("payload", [&](const Path& at) { return reader.bin(at, out.payload); }) &&
         fields.required("options", [&](const Path& at) { return options(reader, at, out); }) && fields.close();
}

bool messages(Reader& reader, const Path& path, std::vector<PublishMessage>& out) {
  std::size_t count = 0;
  if (!reader.array(path, count)) return false;
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Token& token = reader.peek();
    if (token.kind == Kind::bin) [[likely]] {
      out[i].payload = token.view();
      reader.take(1);
    } else if (!message_with_options(reader, path.item(i), out[i])) {
      return false;
    }
  }
  return true;
}

bool kind(Reader& reader, const Path& path, PublishKind& out) {
  std::uint64_t number = 0;
  if (!reader.uint_within(path, 0, 1, number)) return false;
  out = static_cast<PublishKind>(number);
  return true;
}

// No sequence may be 0 or pass 2^64-1, whatever the count.
bool sequences_fit(Reader& reader, const Path& path, const Publish& frame) {
  const std::uint64_t last_offset = frame.messages.empty() ? 0 : frame.messages.size() - 1;
  if (last_offset <= std::numeric_limits<std::uint64_t>::max() - frame.first_sequence) return true;
  return reader.fail(ErrorCode::bad_field, path,
                     cat("must leave room for ", frame.messages.size(), " sequences, is ", frame.first_sequence));
}

}  // namespace

bool read_publish(Reader& reader, Fields& fields, Publish& out) {
  return fields.text("queue", out.queue) && fields.required("first_sequence", [&](const Path& path) {
    return reader.uint_within(path, 1, std::numeric_limits<std::uint64_t>::max(), out.first_sequence);
  }) && fields.required("messages", [&](const Path& path) {
    return messages(reader, path, out.messages) && sequences_fit(reader, path, out);
  }) && fields.optional("kind", [&](const Path& path) { return kind(reader, path, out.kind); });
}

}  // namespace sluice::wire
