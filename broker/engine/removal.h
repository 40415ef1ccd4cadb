#pragma once
// engine/removal.h: a queue goes, with everything that is in it or on it.
//
// Threads  one.
// Source   spec/semantics.md "Delete".

#include <cstdint>

#include "engine/consumers.h"
#include "engine/counters.h"
#include "engine/dispatcher.h"
#include "engine/messages.h"
#include "engine/publisher.h"
#include "engine/queue_table.h"
#include "engine/topic_index.h"

namespace sluice::engine {

class Removal {
 public:
  Removal(QueueTable& queues, Messages& messages, Dispatcher& dispatcher, TopicIndex& topics, Publisher& publisher,
          Consumers& consumers)
      : queues_(queues),
        messages_(messages),
        dispatcher_(dispatcher),
        topics_(topics),
        publisher_(publisher),
        consumers_(consumers) {}

  // Whoever waits for it, consumes it or holds a lease of it is told. Returns how many messages went with it.
  std::uint64_t remove(Queue& queue);
  // What removed queues had counted: broker totals never fall.
  const Counters& retired() const { return retired_; }

 private:
  QueueTable& queues_;
  Messages& messages_;
  Dispatcher& dispatcher_;
  TopicIndex& topics_;
  Publisher& publisher_;
  Consumers& consumers_;
  Counters retired_;
};

}  // namespace sluice::engine
