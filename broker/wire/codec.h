#pragma once
// wire/codec.h: bytes <-> frames. Pure: no I/O, no state, no clock.
//
// Shapes   decode_*: one whole frame in, one value out whose views point into `frame`.
//          encode: appends one frame to `out`, in the shortest MessagePack formats, defaults at the end left out.
// Errors   malformed_frame, unknown_frame, bad_field, too_many_values, headers_too_large, bad_headers (DecodeError).
//          The text names the field, the rule and the value. Nothing is thrown, for any input.
// Bounds   memory <= a constant x the bytes of the frame; depth <= kDepthMax; values <= kValuesMax.
// Threads  any.
// Source   spec/protocol.md section 3.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/buffer.h"
#include "wire/frames.h"

namespace sluice::wire {

inline constexpr std::size_t kValuesMax = 262'144;
inline constexpr std::size_t kDepthMax = 16;
inline constexpr std::size_t kHeadersBytesMax = std::size_t{16} * 1024;
inline constexpr std::size_t kDedupKeyBytesMax = 255;
// Of all settlements of a frame together. One exception a lease still fits into the answer: 4 x 65,535 + 4 values.
inline constexpr std::uint64_t kSettleLeasesMax = 65'535;
static_assert(4 * kSettleLeasesMax + 4 <= kValuesMax);
inline constexpr std::uint64_t kDelayMsMax = 315'360'000'000;  // ten years of 365 days
inline constexpr std::uint64_t kLeaseMsMin = 100;
inline constexpr std::uint64_t kLeaseMsMax = 86'400'000;  // a day

// Why a frame was refused, and whom the answer should name as far as it could be read.
struct DecodeError {
  ErrorCode code = ErrorCode::malformed_frame;
  std::string text;
  std::optional<std::uint64_t> request;         // CONSUME, CANCEL, REQUEST, SETTLE
  std::optional<std::uint64_t> first_sequence;  // PUBLISH ...
  std::uint64_t message_count = 0;              // ... and how many messages it states (bounded by the bytes left)
};

tl::expected<ClientFrame, DecodeError> decode_client_frame(std::string_view frame);
tl::expected<BrokerFrame, DecodeError> decode_broker_frame(std::string_view frame);

// One map and nothing after it.
tl::expected<Map, DecodeError> decode_map(std::string_view bytes);

void encode(const ClientFrame& frame, Buffer& out);
void encode(const BrokerFrame& frame, Buffer& out);
void encode(const Map& map, Buffer& out);

// Writes a PUBLISH message by message, for a batch whose size is not known when it begins. The bytes are those of encode().
class PublishWriter {
 public:
  // Starts a frame; what was written before is dropped.
  void begin(std::string_view queue, std::uint64_t first_sequence, PublishKind kind = PublishKind::queue);
  void append(const PublishMessage& message);
  std::uint64_t count() const { return count_; }
  std::size_t bytes() const { return items_.size(); }
  // The whole frame. The writer is empty afterwards.
  Buffer finish();

 private:
  std::string queue_;
  PublishKind kind_ = PublishKind::queue;
  std::uint64_t first_sequence_ = 0;
  std::uint64_t count_ = 0;
  std::size_t expected_bytes_ = 0;  // the frame before: batches tend to be of one size
  Buffer items_;
};

// Writes a DELIVER delivery by delivery. The bytes are those of encode().
class DeliverWriter {
 public:
  void begin(std::uint64_t consumer, std::uint64_t first_lease, std::uint64_t lease_ms);
  void append(const Delivery& delivery);
  std::uint64_t count() const { return count_; }
  std::size_t bytes() const { return items_.size(); }
  Buffer finish();

 private:
  std::uint64_t consumer_ = 0;
  std::uint64_t first_lease_ = 0;
  std::uint64_t lease_ms_ = 0;
  std::uint64_t count_ = 0;
  std::size_t expected_bytes_ = 0;  // the frame before: batches tend to be of one size
  Buffer items_;
};

}  // namespace sluice::wire
