#include "engine/message.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace sluice::engine {

std::string_view name(DeadReason reason) {
  switch (reason) {
    case DeadReason::none: return "none";
    case DeadReason::rejected: return "rejected";
    case DeadReason::attempts: return "attempts";
    case DeadReason::overflow: return "overflow";
    case DeadReason::expired: return "expired";
  }
  return "none";
}

Message* Message::make(std::string_view payload, std::string_view headers) {
  void* const block = std::malloc(sizeof(Message) + headers.size() + payload.size());
  if (block == nullptr) throw std::bad_alloc();
  Message* const message = new (block) Message();
  message->headers_bytes = static_cast<std::uint16_t>(headers.size());
  message->payload_bytes = static_cast<std::uint32_t>(payload.size());
  char* const bytes = static_cast<char*>(block) + sizeof(Message);
  if (!headers.empty()) std::memcpy(bytes, headers.data(), headers.size());
  if (!payload.empty()) std::memcpy(bytes + headers.size(), payload.data(), payload.size());
  return message;
}

void Message::free(Message* message) {
  message->~Message();
  std::free(message);
}

}  // namespace sluice::engine
