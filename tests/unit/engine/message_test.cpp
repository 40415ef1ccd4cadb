#include "engine/message.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <string>

namespace sluice::engine {
namespace {

TEST_CASE("message: takes at most 128 bytes beside its payload, with what the allocator adds") {
  for (const std::size_t size : {0U, 1U, 100U, 1'024U, 65'536U}) {
    Message* const message = Message::make(std::string(size, 'x'), "");
    CHECK(malloc_usable_size(message) + sizeof(std::size_t) <= size + 128);
    Message::free(message);
  }
}

TEST_CASE("message: keeps payload and headers apart, byte for byte") {
  const std::string payload("a\0b", 3);
  Message* const message = Message::make(payload, "headers");
  CHECK(message->payload() == payload);
  CHECK(message->headers() == "headers");
  CHECK(message->size() == 10);
  Message::free(message);
}

}  // namespace
}  // namespace sluice::engine
