#pragma once
// cli/print_delivery.h: a taken message on stdout, before it is settled.

#include "cli/context.h"
#include "cli/message_json.h"
#include "sluice/consumer.h"

namespace sluice::cli {

struct PrintOptions {
  Source source;
  bool raw = false;
};

// As --raw, --json or text: the payload and a newline, with control characters escaped on a terminal. Flushed. If stdout does not
// take it, the message is given back and the failure thrown: only what was handed on may be acked.
void print_or_release(Context& context, Delivery& delivery, const PrintOptions& options);

}  // namespace sluice::cli
