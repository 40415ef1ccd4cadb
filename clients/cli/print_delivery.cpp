#include "cli/print_delivery.h"

#include "cli/failure.h"
#include "cli/text.h"

namespace sluice::cli {
namespace {

void print(Context& context, const Delivery& delivery, const PrintOptions& options) {
  if (context.globals.json) {
    context.out.object(json_of(delivery, options.source));
  } else if (options.raw) {
    context.out.bytes(delivery.payload());
  } else if (context.out.terminal()) {
    context.out.line(escape(delivery.payload()));
  } else {
    context.out.line(delivery.payload());
  }
  context.out.flush();
}

}  // namespace

void print_or_release(Context& context, Delivery& delivery, const PrintOptions& options) {
  try {
    print(context, delivery, options);
  } catch (const Failure&) {
    delivery.release();
    throw;
  }
}

}  // namespace sluice::cli
