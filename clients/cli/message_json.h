#pragma once
// cli/message_json.h: what the broker tells, as JSON objects; the keys are those of spec/protocol.md section 10.
//
// Shapes   bytes that are UTF-8 are a string under their key, others base64 under "<key>_base64".
// Threads  pure functions.

#include <string>

#include "cli/output.h"
#include "sluice/client.h"
#include "sluice/consumer.h"

namespace sluice::cli {

// Where deliveries come from: a queue, or an unnamed subscription, which is known by its pattern.
struct Source {
  std::string name;
  bool unnamed = false;
};

Json json_of(const Headers& headers);
Json json_of(const DeadLetter& dead);
Json json_of(const QueueInfo& queue);
Json json_of(const MessageInfo& message);
Json json_of(const ServerInfo& server);
Json json_of(const Binding& binding);
Json json_of(const ConsumerInfo& consumer);
Json json_of(const SessionInfo& session);
Json json_of(const Delivery& delivery, const Source& source);

}  // namespace sluice::cli
