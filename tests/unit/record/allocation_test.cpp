// Recovery reads millions of messages: none of them costs an allocation. Counted by replacing operator new of this program.

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "samples.h"

namespace {

thread_local std::size_t allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
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

using namespace sluice::record;

namespace {

void write_turn(RecordWriter& out) {
  out.clear();
  out.begin_published(1, 1, 1, 1, 0, 0);
  for (int i = 0; i < 1'000; ++i) out.add_message(9, 5, 6, "key", "headers", "payload");
  out.end_published();
  Copy copy;
  copy.death = Death{};
  out.message({}, {&copy, 1});
  out.delivered(1, 1, 3);
  out.ended(How::acked, 1, 3);
  out.returned({});
}

}  // namespace

TEST_CASE("records: a writer that is used again allocates nothing") {
  RecordWriter out;
  write_turn(out);
  const std::size_t before = allocations;
  write_turn(out);
  CHECK(allocations == before);
}

TEST_CASE("records: reading messages and what happens to them allocates nothing") {
  RecordWriter out;
  write_turn(out);
  const std::size_t before = allocations;
  std::size_t seen = 0;
  RecordReader reader(out.bytes());
  while (const auto record = reader.next()) {
    if (const auto* const run = std::get_if<Published>(&*record)) {
      for (const PublishedMessage& message : run->messages) seen += message.body.payload.size();
    } else if (const auto* const message = std::get_if<Message>(&*record)) {
      for (const Copy& copy : message->copies) seen += copy.death ? 1U : 0U;
    }
  }
  const std::size_t after = allocations;
  CHECK_FALSE(reader.error());
  CHECK(seen == 7'001);
  CHECK(after == before);
}
