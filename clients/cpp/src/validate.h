#pragma once
// clients/cpp/validate.h: refuses bad arguments before anything is sent.
//
// Errors   throws ClientError: the numbers of spec/errors.json where they fit, else bad_argument. The text names the
//          argument, the rule and the value.

#include <cstdint>
#include <string_view>

#include "sluice/client.h"
#include "sluice/consumer.h"

namespace sluice::internal {

void check_queue_name(std::string_view name);
void check_topic(std::string_view topic);
void check_pattern(std::string_view pattern);
void check_url(std::string_view url);
void check_client_options(const ClientOptions& options);
// A queue's name, or a topic and perhaps a policy, never both.
void check_consume(std::string_view queue, const ConsumeOptions& options);
void check_dedup_key(std::string_view key);
void check_encoded_headers(std::string_view headers);
void check_lease(Milliseconds lease);
// Return the value as the wire has it.
std::uint8_t checked_priority(int priority);
std::uint64_t checked_delay(Milliseconds delay);
std::uint64_t checked_ttl(Milliseconds ttl);

}  // namespace sluice::internal
