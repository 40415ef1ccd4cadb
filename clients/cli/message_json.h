#pragma once
// cli/message_json.h: what the broker tells, as JSON objects; the keys are those of spec/protocol.md section 10.
//
// Shapes   bytes that are UTF-8 are a string under their key, others base64 under "<key>_base64".
// Threads  pure functions.

#include <string_view>

#include "cli/output.h"
#include "sluice/client.h"
#include "sluice/consumer.h"

namespace sluice::cli {

Json json_of(const Headers& headers);
Json json_of(const DeadLetter& dead);
Json json_of(const QueuePolicy& policy);
Json json_of(const QueueInfo& queue);
Json json_of(const MessageInfo& message);
Json json_of(const ServerInfo& server);
Json json_of(const Delivery& delivery, std::string_view queue);

}  // namespace sluice::cli
