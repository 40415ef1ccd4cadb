#pragma once
// engine/admin.h: the verbs of REQUEST that concern queues and dead letters.
//
// Errors   unknown_verb, bad_field, and those of the queue table, policy and replay.
// Threads  one.
// Source   spec/protocol.md section 10.

#include "base/error.h"
#include "engine/arguments.h"
#include "engine/consumers.h"
#include "engine/dead_letters.h"
#include "engine/dispatcher.h"
#include "engine/messages.h"
#include "engine/now.h"
#include "engine/queue_table.h"

namespace sluice::engine {

class Admin {
 public:
  Admin(QueueTable& queues, Messages& messages, DeadLetters& dead_letters, Consumers& consumers, Dispatcher& dispatcher,
        Records& records)
      : queues_(queues),
        messages_(messages),
        dead_letters_(dead_letters),
        consumers_(consumers),
        dispatcher_(dispatcher),
        records_(records) {}

  Result<wire::Map> handle(const wire::Request& request, const Now& now);

  // What deleted queues had counted: broker totals never fall.
  const Counters& retired() const { return retired_; }

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
  Result<wire::Map> replay(Arguments& arguments, const Now& now);
  wire::Map describe(const Queue& queue, const Now& now);

  QueueTable& queues_;
  Messages& messages_;
  DeadLetters& dead_letters_;
  Consumers& consumers_;
  Dispatcher& dispatcher_;
  Records& records_;
  Counters retired_;
};

}  // namespace sluice::engine
