#pragma once
// engine/admin.h: the verbs of REQUEST that concern queues and dead letters.
//
// Errors   unknown_verb, bad_field, and those of the queue table, policy and replay.
// Threads  one.
// Source   spec/protocol.md section 10.

#include <optional>

#include "base/error.h"
#include "engine/arguments.h"
#include "engine/bodies.h"
#include "engine/dead_letters.h"
#include "engine/dispatcher.h"
#include "engine/messages.h"
#include "engine/now.h"
#include "engine/queue_table.h"
#include "engine/removal.h"
#include "engine/topic_index.h"

namespace sluice::engine {

class Admin {
 public:
  Admin(QueueTable& queues, Messages& messages, DeadLetters& dead_letters, Removal& removal, Dispatcher& dispatcher,
        TopicIndex& topics, Records& records)
      : queues_(queues),
        messages_(messages),
        dead_letters_(dead_letters),
        removal_(removal),
        dispatcher_(dispatcher),
        topics_(topics),
        records_(records) {}

  Result<wire::Map> handle(const wire::Request& request, const Now& now);
  // True: the last answer lacks bodies that were asked for now. It has to be asked for again when they are here.
  bool lacked_bodies() const { return lacked_bodies_; }
  void set_bodies(Bodies& bodies) { bodies_ = &bodies; }

 private:
  Result<wire::Map> declare(Arguments& arguments, const Now& now);
  Result<wire::Map> list(Arguments& arguments, const Now& now);
  Result<wire::Map> info(Arguments& arguments, const Now& now);
  Result<wire::Map> purge(Arguments& arguments, const Now& now);
  Result<wire::Map> edit(Arguments& arguments, const Now& now);
  Result<wire::Map> pause(Arguments& arguments, const Now& now);
  Result<wire::Map> resume(Arguments& arguments, const Now& now);
  Result<wire::Map> set_paused(Arguments& arguments, const Now& now, bool paused);
  Result<wire::Map> remove(Arguments& arguments, const Now& now);
  Result<wire::Map> peek(Arguments& arguments, const Now& now);
  Result<wire::Map> bind(Arguments& arguments, const Now& now);
  Result<wire::Map> unbind(Arguments& arguments, const Now& now);
  Result<wire::Map> bindings(Arguments& arguments, const Now& now);
  Result<wire::Map> consumers(Arguments& arguments, const Now& now);
  Result<wire::Map> replay(Arguments& arguments, const Now& now);
  std::optional<Error> not_durable(const Policy& policy) const;
  wire::Map describe(const Queue& queue, const Now& now);

  QueueTable& queues_;
  Messages& messages_;
  DeadLetters& dead_letters_;
  Removal& removal_;
  Dispatcher& dispatcher_;
  TopicIndex& topics_;
  Records& records_;
  Bodies* bodies_ = nullptr;
  bool lacked_bodies_ = false;
};

}  // namespace sluice::engine
