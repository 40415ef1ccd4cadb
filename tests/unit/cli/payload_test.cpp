#include "cli/bench/payload.h"

#include <doctest/doctest.h>

#include <string>

using namespace sluice::cli;

TEST_CASE("bench payload: what was written is read back, at every size") {
  for (std::size_t bytes = kPayloadBytesMin; bytes < kPayloadBytesMin + 40; ++bytes) {
    PayloadWriter writer(bytes, producer_tag(77, 3));
    const std::string_view payload = writer.write(123, 456'789);
    CAPTURE(bytes);
    REQUIRE(payload.size() == bytes);
    const auto stamp = read_stamp(payload);
    REQUIRE(stamp);
    CHECK(run_tag_of(stamp->producer) == 77);
    CHECK(producer_of(stamp->producer) == 3);
    CHECK(stamp->sequence == 123);
    CHECK(stamp->intended_ns == 456'789);
    CHECK(filler_intact(payload, 123));
  }
}

TEST_CASE("bench payload: any changed byte of the filler is noticed") {
  PayloadWriter writer(100, 1);
  const std::string good(writer.write(9, 0));
  for (std::size_t at = kPayloadBytesMin; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    CAPTURE(at);
    CHECK_FALSE(filler_intact(bad, 9));
  }
}

TEST_CASE("bench payload: the filler of another sequence is not taken for this one's") {
  PayloadWriter writer(100, 1);
  const std::string payload(writer.write(9, 0));
  CHECK_FALSE(filler_intact(payload, 8));
  CHECK_FALSE(filler_intact(payload, 10));
}

TEST_CASE("bench payload: a message that is too short is none of ours") {
  CHECK_FALSE(read_stamp(std::string(kPayloadBytesMin - 1, 'x')));
  CHECK_FALSE(read_stamp(""));
}
