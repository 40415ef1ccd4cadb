#pragma once
// engine/bodies.h: whoever brings back bodies that are on disk only.
//
// Place    dispatcher, admin -> [bodies]. The answer is a later Engine::attach_body().
// Threads  one.

#include "engine/message.h"
#include "engine/queue.h"

namespace sluice::engine {

class Bodies {
 public:
  virtual ~Bodies() = default;
  // The queue has consumers with credit, and messages without a body. Cheap; called for each dispatch of such a queue.
  virtual void look_ahead(Queue& queue) = 0;
  // This one is wanted. May be asked for again before it has come.
  virtual void fetch(Message& message) = 0;
};

}  // namespace sluice::engine
