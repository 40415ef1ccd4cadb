#pragma once
// clients/cpp/convert.h: maps of the wire <-> the structs of sluice/client.h.
//
// Shapes   keys of spec/protocol.md section 10. A key that is missing, or of another type, leaves the struct's default:
//          a client lives with an older and with a newer broker.

#include <string_view>

#include "sluice/client.h"
#include "wire/value.h"

namespace sluice::internal {

wire::Map to_wire(const QueuePolicy& policy);
wire::Map to_wire(std::string_view dead_letter_queue, const ReplayOptions& options);

QueueInfo to_queue_info(const wire::Map& map);
QueueList to_queue_list(const wire::Map& map);
MessageList to_message_list(const wire::Map& map);
BindingList to_binding_list(const wire::Map& map);
ConsumerList to_consumer_list(const wire::Map& map);
SessionList to_session_list(const wire::Map& map);
ServerInfo to_server_info(const wire::Map& map);
DeadLetter to_dead_letter(const wire::Map& map);
std::uint64_t to_uint(const wire::Map& map, std::string_view key);
bool to_bool(const wire::Map& map, std::string_view key);
// An empty map if there is none.
const wire::Map& to_map(const wire::Map& map, std::string_view key);

}  // namespace sluice::internal
