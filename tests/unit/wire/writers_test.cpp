#include <doctest/doctest.h>

#include "wire/codec.h"

using namespace sluice::wire;

namespace {

template <class Frame>
std::string encoded(const Frame& frame) {
  Buffer out;
  encode(frame, out);
  return std::string(out.view());
}

Publish publish_of(std::size_t count, std::string_view payload) {
  Publish frame{.queue = "orders", .first_sequence = 1000, .messages = {}};
  for (std::size_t i = 0; i < count; ++i) frame.messages.push_back({.payload = payload, .headers = {}});
  return frame;
}

Buffer written(PublishWriter& writer, const Publish& frame) {
  writer.begin(frame.queue, frame.first_sequence);
  for (const PublishMessage& message : frame.messages) writer.append(message);
  CHECK(writer.count() == frame.messages.size());
  return writer.finish();
}

}  // namespace

TEST_CASE("publish writer: the bytes are those of encode, for every length of the heads") {
  PublishWriter writer;
  for (const std::size_t count : {0u, 1u, 15u, 16u, 65'535u, 65'536u}) {
    CAPTURE(count);
    const Publish frame = publish_of(count, "x");
    CHECK(written(writer, frame).view() == encoded(ClientFrame(frame)));
  }
  for (const std::uint64_t sequence : {std::uint64_t{1}, std::uint64_t{128}, UINT64_MAX}) {
    for (const std::size_t name : {0u, 1u, 31u, 32u, 255u, 256u, 70'000u}) {
      Publish frame = publish_of(2, "payload");
      const std::string queue(name, 'q');
      frame.queue = queue;
      frame.first_sequence = sequence;
      CHECK(written(writer, frame).view() == encoded(ClientFrame(frame)));
    }
  }
}

TEST_CASE("publish writer: begin drops what was not finished, finish leaves nothing behind") {
  PublishWriter writer;
  writer.begin("other", 5);
  writer.append({.payload = "dropped", .headers = {}});
  const Publish frame = publish_of(3, "kept");
  CHECK(written(writer, frame).view() == encoded(ClientFrame(frame)));
  CHECK(writer.count() == 0);
  CHECK(writer.bytes() == 0);
}

TEST_CASE("publish writer: bytes counts the items written so far") {
  PublishWriter writer;
  writer.begin("orders", 1);
  CHECK(writer.bytes() == 0);
  writer.append({.payload = "four", .headers = {}});
  CHECK(writer.bytes() == 6);
}

TEST_CASE("publish writer: options of a message are written as encode writes them") {
  PublishWriter writer;
  Publish frame = publish_of(1, "x");
  frame.messages.push_back({.payload = "", .headers = "\x80", .delay_ms = 5, .priority = 9});
  frame.messages.push_back({.payload = "y", .headers = {}, .delay_ms = 0, .priority = 0});
  const Buffer bytes = written(writer, frame);
  CHECK(bytes.view() == encoded(ClientFrame(frame)));
  CHECK(decode_client_frame(bytes.view()).value() == ClientFrame(frame));
}

TEST_CASE("deliver writer: the bytes are those of encode") {
  DeliverWriter writer;
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{70'000}, UINT64_MAX}) {
    for (const std::size_t count : {0u, 1u, 15u, 16u, 65'536u}) {
      Deliver frame{.consumer = number, .first_lease = number, .lease_ms = number, .deliveries = {}};
      frame.deliveries.assign(count, {.id = number, .count = 1, .payload = "x", .headers = {}, .dead = {}});
      if (count > 1) {
        frame.deliveries[1] = {.id = 1,
                               .count = number,
                               .payload = "",
                               .headers = "\x80",
                               .priority = 0,
                               .attempts = number,
                               .dead = "\x80"};
      }
      writer.begin(frame.consumer, frame.first_lease, frame.lease_ms);
      for (const Delivery& delivery : frame.deliveries) writer.append(delivery);
      CHECK(writer.count() == count);
      CHECK(writer.finish().view() == encoded(BrokerFrame(frame)));
    }
  }
}
