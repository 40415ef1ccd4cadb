#pragma once
// engine/dispatcher.h: hands ready messages to consumers, within their credit.
//
// Shapes   once a turn: every queue in which something changed gives its ready messages to the least loaded consumer with
//          credit, then round robin. What one consumer gets in a turn has consecutive leases and is one effect.
// Threads  one.
// Owns     nothing.
// Source   spec/semantics.md "Dispatch", "Credit".

#include <vector>

#include "engine/bodies.h"
#include "engine/effects.h"
#include "engine/leases.h"
#include "engine/now.h"
#include "engine/queue.h"
#include "engine/records.h"

namespace sluice::engine {

class Dispatcher {
 public:
  Dispatcher(Leases& leases, Records& records, Effects& effects)
      : leases_(leases), records_(records), effects_(effects) {}

  // Something in the queue became ready. Cheap; may be called for every message.
  void mark(Queue& queue) {
    if (queue.dirty) return;
    queue.dirty = true;
    dirty_.push_back(&queue);
  }
  // The consumer's credit or load changed.
  void touch(Consumer& consumer);
  void add(Consumer& consumer);
  // Off its queue. Leases it holds are not touched.
  void remove(Consumer& consumer);
  // The queue goes.
  void forget(Queue& queue);

  void dispatch(const Now& now);
  // REQUIRES: before any message without a body.
  void set_bodies(Bodies& bodies) { bodies_ = &bodies; }

 private:
  void dispatch(Queue& queue, const Now& now);
  void relist(Consumer& consumer);
  void unlist(Consumer& consumer);
  std::uint64_t share_of(const Queue& queue, const Consumer& consumer) const;
  bool assign_share(Queue& queue);
  bool assign_suspect(Queue& queue);
  void assign(Consumer& consumer, Message& message);
  void reserve(Consumer& consumer);
  void end_solitude(Consumer& consumer);
  void hand_out(Queue& queue, Consumer& consumer, const Now& now);

  Leases& leases_;
  Records& records_;
  Effects& effects_;
  Bodies* bodies_ = nullptr;
  std::vector<Queue*> dirty_;
  std::vector<Queue*> working_;       // dirty_ of this dispatch
  std::vector<Consumer*> receiving_;  // got something in this queue's dispatch
  std::uint64_t served_turn_ = 0;
};

}  // namespace sluice::engine
