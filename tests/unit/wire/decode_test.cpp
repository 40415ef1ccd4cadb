#include <doctest/doctest.h>

#include "wire/codec.h"

using namespace sluice;
using namespace sluice::wire;
using namespace std::string_literals;

namespace {

std::string text_of(const std::string& frame) {
  const auto decoded = decode_client_frame(frame);
  REQUIRE_FALSE(decoded.has_value());
  return decoded.error().text;
}

}  // namespace

TEST_CASE("decoder: payloads are views into the frame") {
  Publish frame{.queue = "q", .first_sequence = 1, .messages = {{.payload = "payload", .headers = "\x80"}}};
  Buffer bytes;
  encode(ClientFrame(frame), bytes);
  const auto decoded = decode_client_frame(bytes.view());
  REQUIRE(decoded.has_value());
  const auto& publish = std::get<Publish>(*decoded);
  const auto inside = [&bytes](std::string_view view) {
    return view.data() >= bytes.view().data() && view.data() + view.size() <= bytes.view().data() + bytes.size();
  };
  CHECK(inside(publish.queue));
  CHECK(inside(publish.messages[0].payload));
  CHECK(inside(publish.messages[0].headers));
}

TEST_CASE("decoder: texts of errors name the field, the rule and the value") {
  CHECK(text_of("") == "frame: is empty");
  CHECK(text_of("\x91"s) == "frame: ends inside a value");
  CHECK(text_of("\x91\x01\x00"s) == "frame: has bytes after its end");
  CHECK(text_of("\x91\x63") == "frame: type 99 is none of the frames to a broker");
  CHECK(text_of("\x81\x01\x01") == "frame: must be an array that begins with the number of its type");
  CHECK(text_of("\x93\x06\x02\xff") == "CANCEL consumer: must be an unsigned integer, is -1");
  CHECK(text_of("\x92\x06\x02") == "CANCEL consumer: is missing");
  CHECK(text_of("\x93\x03\x01\x81\xacheartbeat_ms\x05") == "HELLO heartbeat_ms: must be 100 to 60000, is 5");
  CHECK(text_of("\x93\x07\xc0\x91\x93\x01\x05\x04") ==
        "SETTLE settlements[0]: must be a range of 1 to 65535 leases, is 5 to 4");
  CHECK(text_of("\x94\x04\xa1q\x01\x91\x92\xc4\x00\x81\xa5prior\x01"s) ==
        "PUBLISH messages[0].options: does not know the key 'prior'");
  CHECK(text_of("\x94\x04\xa1q\x01\x92\xc4\x00\x92\xc4\x00\x81\xa8priority\x0c"s) ==
        "PUBLISH messages[1].priority: must be 0 to 9, is 12");
}

TEST_CASE("decoder: foreign text in the text of an error is cut and cannot write into a log") {
  const std::string long_key(200, 'k');
  const std::string frame = "\x94\x04\xa1q\x01\x91\x92\xc4\x00\x81\xd9\xc8"s + long_key + "\x01";
  CHECK(text_of(frame).ends_with("'" + long_key.substr(0, 64) + "...'"));
  CHECK(text_of("\x94\x04\xa1q\x01\x91\x92\xc4\x00\x81\xa4\n\x1b\x7f\xff\x01"s)
            .ends_with("'" + std::string(4, '?') + "'"));
}

TEST_CASE("decoder: an error in the middle of deep arguments names the whole way") {
  // REQUEST 1 "v" {"a": [0, {"b": "\xff"}]}
  CHECK(text_of("\x94\x08\x01\xa1v\x81\xa1\x61\x92\x00\x81\xa1\x62\xa1\xff"s) ==
        "REQUEST arguments.a[1].b: must be valid UTF-8, is not");
}

TEST_CASE("decode_map: one map and nothing else") {
  CHECK(decode_map("\x80").value() == Map());
  CHECK(decode_map("\x82\xa1\x61\x01\xa1\x62\x91\xc0").value() == Map().set("a", 1).set("b", Array{Value()}));
  const auto code = [](const std::string& bytes) { return decode_map(bytes).error().code; };
  CHECK(code("") == ErrorCode::malformed_frame);
  CHECK(code("\x80\x80") == ErrorCode::malformed_frame);
  CHECK(code("\x90") == ErrorCode::bad_field);
  CHECK(code("\x81\x01\x01") == ErrorCode::bad_field);
  CHECK(code("\x82\xa1\x61\x01\xa1\x61\x01") == ErrorCode::bad_field);
  CHECK(code("\xdf\xff\xff\xff\xff") == ErrorCode::malformed_frame);
}

TEST_CASE("encoder: a map is written so that decode_map gives it back, floats as floats") {
  const Map map = Map().set("whole", 2.0).set("half", 0.5).set("minus", -3.0).set("int", 2).set("bytes", Bin{"\xff"});
  Buffer bytes;
  encode(map, bytes);
  CHECK(decode_map(bytes.view()).value() == map);
}
