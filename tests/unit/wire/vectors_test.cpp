// Every vector of spec/vectors, in both directions.

#include <doctest/doctest.h>

#include <set>

#include "frame_json.h"
#include "vector_file.h"
#include "wire/codec.h"

using namespace sluice;
using namespace sluice::wire;

namespace {

const std::vector<Vector>& vectors() {
  static const std::vector<Vector> all = read_vectors();
  return all;
}

template <class Frame>
std::string encoded(const Frame& frame) {
  Buffer out;
  encode(frame, out);
  return std::string(out.view());
}

template <class Frame>
void check_valid(const Vector& vector, const tl::expected<Frame, DecodeError>& decoded, const Frame& meant) {
  REQUIRE_MESSAGE(decoded.has_value(), decoded.error().text);
  CHECK(*decoded == meant);
  // A frame that is not canonical has the same meaning as the one that encode() writes for it, and other bytes.
  CHECK((to_hex(encoded(meant)) == to_hex(vector.bytes)) == vector.canonical);
}

template <class Frame>
void check_invalid(const Vector& vector, const tl::expected<Frame, DecodeError>& decoded) {
  REQUIRE_FALSE(decoded.has_value());
  const DecodeError& error = decoded.error();
  CHECK(error_info(error.code).name == vector.error);
  CHECK(error.text.find(vector.text) != std::string::npos);
  CHECK(!error.text.empty());
  CHECK(error.request == vector.request);
  CHECK(error.first_sequence == vector.first_sequence);
  CHECK(error.message_count == vector.message_count);
}

}  // namespace

TEST_CASE("vectors: a valid frame decodes to its meaning, and its meaning encodes to the canonical bytes") {
  for (const Vector& vector : vectors()) {
    if (!vector.error.empty()) continue;
    CAPTURE(vector.file);
    CAPTURE(vector.name);
    FrameJson json;
    if (vector.to_broker) {
      check_valid(vector, decode_client_frame(vector.bytes), json.client_frame(vector.frame));
    } else {
      check_valid(vector, decode_broker_frame(vector.bytes), json.broker_frame(vector.frame));
    }
  }
}

TEST_CASE("vectors: an invalid frame is refused with the stated error, and names its asker") {
  for (const Vector& vector : vectors()) {
    if (vector.error.empty()) continue;
    CAPTURE(vector.file);
    CAPTURE(vector.name);
    if (vector.to_broker) {
      check_invalid(vector, decode_client_frame(vector.bytes));
    } else {
      check_invalid(vector, decode_broker_frame(vector.bytes));
    }
  }
}

TEST_CASE("vectors: a valid frame that ends early is malformed, wherever it ends") {
  for (const Vector& vector : vectors()) {
    if (!vector.error.empty() || vector.bytes.size() > 4096) continue;
    CAPTURE(vector.name);
    for (std::size_t size = 0; size < vector.bytes.size(); ++size) {
      const std::string cut = vector.bytes.substr(0, size);
      const auto code = [](const auto& decoded) { return decoded ? ErrorCode::internal : decoded.error().code; };
      CHECK(code(decode_client_frame(cut)) == ErrorCode::malformed_frame);
      CHECK(code(decode_broker_frame(cut)) == ErrorCode::malformed_frame);
    }
  }
}

TEST_CASE("vectors: every frame has valid and invalid ones, and no name is there twice") {
  std::set<std::string> names;
  std::set<std::string> types;
  std::set<std::string> errors;
  for (const Vector& vector : vectors()) {
    CHECK_MESSAGE(names.insert(vector.name).second, vector.name);
    if (vector.error.empty()) {
      types.insert((vector.to_broker ? "to_broker " : "to_client ") + vector.frame.at("type").get<std::string>());
    } else {
      errors.insert(vector.error);
    }
  }
  CHECK(types.size() == std::variant_size_v<ClientFrame> + std::variant_size_v<BrokerFrame>);
  CHECK(errors == std::set<std::string>{"bad_field", "bad_headers", "headers_too_large", "malformed_frame",
                                        "too_many_values", "unknown_frame"});
}
