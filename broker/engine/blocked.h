#pragma once
// engine/blocked.h: a publish that waits for room in a queue whose overflow policy is `block`.
//
// Owns     a copy of the message: the frame it came in is gone when it is admitted.
// Source   spec/semantics.md "Overflow".

#include <cstdint>
#include <string>

#include "engine/timer_wheel.h"
#include "wire/frames.h"

namespace sluice::engine {

struct Peer;
struct Queue;

// Timed on the publisher's wheel until when_ms.
struct Blocked : TimerNode {
  Peer* peer = nullptr;
  Queue* queue = nullptr;   // that has no room; it stands in Queue::blocked
  std::uint64_t order = 0;  // its key there
  std::uint64_t sequence = 0;
  std::string target;  // name of the queue, or topic
  wire::PublishKind kind = wire::PublishKind::queue;
  std::string payload;
  std::string headers;
  std::string dedup_key;
  wire::PublishMessage message;  // views into the above

  std::uint64_t size() const { return payload.size() + headers.size(); }
};

}  // namespace sluice::engine
