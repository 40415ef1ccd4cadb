// How much memory decoding takes: counted by replacing operator new of this program.

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "vector_file.h"
#include "wire/codec.h"

namespace {

thread_local std::size_t allocations = 0;
thread_local std::size_t allocated_bytes = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  allocated_bytes += bytes;
  void* const block = std::malloc(bytes == 0 ? 1 : bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }

using namespace sluice::wire;

namespace {

template <class Work>
std::size_t allocations_of(Work work) {
  const std::size_t before = allocations;
  work();
  return allocations - before;
}

std::size_t publish_allocations(std::size_t count) {
  PublishWriter writer;
  writer.begin("orders", 1);
  for (std::size_t i = 0; i < count; ++i) writer.append({.payload = "payload", .headers = {}});
  const Buffer bytes = writer.finish();
  CHECK(decode_client_frame(bytes.view()).has_value());  // the tape has its room after this
  return allocations_of([&] { CHECK(decode_client_frame(bytes.view()).has_value()); });
}

std::size_t deliver_allocations(std::size_t count) {
  DeliverWriter writer;
  writer.begin(1, 1, 30'000);
  for (std::size_t i = 0; i < count; ++i) writer.append({.id = i, .payload = "payload", .headers = {}, .dead = {}});
  const Buffer bytes = writer.finish();
  CHECK(decode_broker_frame(bytes.view()).has_value());
  return allocations_of([&] { CHECK(decode_broker_frame(bytes.view()).has_value()); });
}

}  // namespace

TEST_CASE("decoder: messages cost no allocation beyond the vector that holds them") {
  CHECK(publish_allocations(1'000) == publish_allocations(1));
  CHECK(deliver_allocations(1'000) == deliver_allocations(1));
  // The vector, and the stack of the parser.
  CHECK(publish_allocations(1'000) <= 2);
}

TEST_CASE("decoder: a hostile frame gets memory by its bytes and never by what it states") {
  for (const Vector& vector : read_vectors()) {
    CAPTURE(vector.name);
    const std::size_t before = allocated_bytes;
    const bool ok = vector.to_broker ? decode_client_frame(vector.bytes).has_value()
                                     : decode_broker_frame(vector.bytes).has_value();
    CHECK(ok == vector.error.empty());
    // 80 bytes a settlement, 72 an entry of a map, 16 a token in a tape that doubles; texts of errors and the parser's
    // stack come on top.
    CHECK(allocated_bytes - before <= 8'192 + 200 * vector.bytes.size());
  }
}
