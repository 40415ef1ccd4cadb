#pragma once
// cli/record_json.h: a record of the journal as a JSON object; the keys are the fields' names in spec/journal.md.
//
// Shapes   numbers that stand for something are their names, flags are booleans, counters have names. Payload and headers are base64,
//          and also readable where they can be: `payload` when it is printable UTF-8, `headers` as an object. Other texts that are not
//          UTF-8 are base64 under "<key>_base64". The messages of a run have their own key, id and sequence.
// Threads  pure functions.
// Source   spec/vectors/journal/README.md.

#include "cli/output.h"
#include "record/record.h"

namespace sluice::cli {

Json json_of(const record::Record& record);

}  // namespace sluice::cli
