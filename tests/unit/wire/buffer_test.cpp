#include "wire/buffer.h"

#include <doctest/doctest.h>

#include <string>

using sluice::wire::Buffer;

TEST_CASE("buffer: grows over every size and keeps its bytes") {
  Buffer buffer;
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    buffer.append(std::to_string(i));
    expected += std::to_string(i);
  }
  CHECK(buffer.view() == expected);
  CHECK(buffer.size() == expected.size());
}

TEST_CASE("buffer: a head goes in front of what was written, up to the headroom") {
  Buffer buffer(5);
  buffer.append("items");
  buffer.prepend("ad:");
  buffer.prepend("he");
  CHECK(buffer.view() == "head:items");
}

TEST_CASE("buffer: extend and shrink give what was filled") {
  Buffer buffer;
  char* const place = buffer.extend(100);
  place[0] = 'a';
  place[1] = 'b';
  buffer.shrink(98);
  CHECK(buffer.view() == "ab");
}

TEST_CASE("buffer: reserve adds no bytes, and saves the next ones a move") {
  Buffer buffer(8);
  buffer.reserve(10'000);
  CHECK(buffer.empty());
  buffer.append("a");
  const char* const before = buffer.view().data();
  buffer.append(std::string(9'999, 'b'));
  CHECK(buffer.view().data() == before);
  buffer.prepend("head");
  CHECK(buffer.size() == 10'004);
}

TEST_CASE("buffer: clear keeps the headroom") {
  Buffer buffer(4);
  buffer.append("first");
  buffer.clear();
  CHECK(buffer.empty());
  buffer.append("b");
  buffer.prepend("a:::");
  CHECK(buffer.view() == "a:::b");
}

TEST_CASE("buffer: moves its bytes and leaves an empty one") {
  Buffer first;
  first.append("bytes");
  Buffer second(std::move(first));
  CHECK(second.view() == "bytes");
  CHECK(first.empty());  // NOLINT(bugprone-use-after-move): that it is empty is promised
  Buffer third;
  third.append("old");
  third = std::move(second);
  CHECK(third.view() == "bytes");
}

TEST_CASE("buffer: a released block belongs to the caller and holds the bytes") {
  Buffer buffer(3);
  buffer.append("bytes");
  const std::string_view view = buffer.view();
  void* const block = buffer.release();
  CHECK(view == "bytes");
  CHECK(buffer.empty());
  std::free(block);
  buffer.append("again");
  CHECK(buffer.view() == "again");
}
