// wire/writers.cpp: PUBLISH and DELIVER written item by item, their heads put in front at the end.
//
// Source   spec/protocol.md sections 7 and 8.

#include <algorithm>

#include "wire/codec.h"
#include "wire/pack.h"

namespace sluice::wire {
namespace {

// A type, three integers and two array heads are 1 + 1 + 3 * 9 + 5 bytes at most; a text has a head of 5.
constexpr std::size_t kHeadBytesMax = 40;

// One large frame must not make every small one after it large.
constexpr std::size_t kExpectedBytesMax = std::size_t{64} * 1024;

// Gives `items` its head. A buffer that was never written to has no block to put a head into.
Buffer finish_frame(Buffer& items, Buffer&& head) {
  Buffer out;
  out.swap(items);
  if (out.empty()) return std::move(head);
  out.prepend(head.view());
  return out;
}

}  // namespace

void PublishWriter::begin(std::string_view queue, std::uint64_t first_sequence, PublishKind kind) {
  queue_ = queue;
  kind_ = kind;
  first_sequence_ = first_sequence;
  count_ = 0;
  items_ = Buffer(kHeadBytesMax + queue.size());
  items_.reserve(expected_bytes_);
}

void PublishWriter::append(const PublishMessage& message) {
  Pack to(items_);
  pack_message(to, message);
  ++count_;
}

Buffer PublishWriter::finish() {
  const bool kind = kind_ != PublishKind::queue;
  Buffer head;
  Pack(head).array(4U + kind).type(FrameType::publish).text(queue_).uint(first_sequence_).array(count_);
  if (kind) Pack(count_ == 0 ? head : items_).uint(static_cast<std::uint64_t>(kind_));
  count_ = 0;
  expected_bytes_ = std::min(items_.size(), kExpectedBytesMax);
  return finish_frame(items_, std::move(head));
}

void DeliverWriter::begin(std::uint64_t consumer, std::uint64_t first_lease, std::uint64_t lease_ms) {
  consumer_ = consumer;
  first_lease_ = first_lease;
  lease_ms_ = lease_ms;
  count_ = 0;
  items_ = Buffer(kHeadBytesMax);
  items_.reserve(expected_bytes_);
}

void DeliverWriter::append(const Delivery& delivery) {
  Pack to(items_);
  pack_delivery(to, delivery);
  ++count_;
}

Buffer DeliverWriter::finish() {
  Buffer head;
  Pack(head).array(5).type(FrameType::deliver).uint(consumer_).uint(first_lease_).uint(lease_ms_).array(count_);
  count_ = 0;
  expected_bytes_ = std::min(items_.size(), kExpectedBytesMax);
  return finish_frame(items_, std::move(head));
}

}  // namespace sluice::wire
