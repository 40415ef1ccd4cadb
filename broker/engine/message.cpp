#include "engine/message.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace sluice::engine {

std::string_view name(DeadReason reason) {
  switch (reason) {
    case DeadReason::none:
      return "none";
    case DeadReason::rejected:
      return "rejected";
    case DeadReason::attempts:
      return "attempts";
    case DeadReason::overflow:
      return "overflow";
    case DeadReason::expired:
      return "expired";
  }
  return "none";
}

namespace {

void* allocate(std::size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void write(char* place, std::string_view headers, std::string_view payload) {
  if (!headers.empty()) std::memcpy(place, headers.data(), headers.size());
  if (!payload.empty()) std::memcpy(place + headers.size(), payload.data(), payload.size());
}

}  // namespace

Body* Body::make(std::string_view payload, std::string_view headers) {
  void* const block = allocate(sizeof(Body) + headers.size() + payload.size());
  Body* const body = new (block) Body();
  body->headers_bytes = static_cast<std::uint16_t>(headers.size());
  body->payload_bytes = static_cast<std::uint32_t>(payload.size());
  write(static_cast<char*>(block) + sizeof(Body), headers, payload);
  return body;
}

Message* Message::make(std::string_view payload, std::string_view headers) {
  void* const block = allocate(sizeof(Message) + headers.size() + payload.size());
  Message* const message = new (block) Message();
  message->headers_bytes = static_cast<std::uint16_t>(headers.size());
  message->payload_bytes = static_cast<std::uint32_t>(payload.size());
  write(static_cast<char*>(block) + sizeof(Message), headers, payload);
  return message;
}

Message* Message::make(Body& body) {
  void* const block = allocate(sizeof(Message) + sizeof(Body*));
  Message* const message = new (block) Message();
  message->headers_bytes = body.headers_bytes;
  message->payload_bytes = body.payload_bytes;
  message->shared = true;
  new (static_cast<char*>(block) + sizeof(Message)) Body*(&body);
  ++body.messages;
  return message;
}

Message* Message::make_kept(Body& body) {
  Message* const message = make_kept(body.payload_bytes, body.headers_bytes);
  message->attach_body(body);
  return message;
}

Message* Message::make_kept(std::uint32_t payload_bytes, std::uint16_t headers_bytes) {
  void* const block = allocate(sizeof(Message) + sizeof(Kept));
  Message* const message = new (block) Message();
  message->headers_bytes = headers_bytes;
  message->payload_bytes = payload_bytes;
  message->shared = message->in_journal = true;
  new (static_cast<char*>(block) + sizeof(Message)) Kept();
  return message;
}

void Message::attach_body(Body& body) {
  kept().body = &body;
  ++body.messages;
}

void Message::detach_body() {
  Body* const body = std::exchange(kept().body, nullptr);
  if (--body->messages == 0) std::free(body);
}

void Message::free(Message* message) {
  if (message->shared && message->has_body() && --message->body()->messages == 0) std::free(message->body());
  message->~Message();
  std::free(message);
}

Extras& Message::extra() {
  if (extras == nullptr) {
    extras = std::make_unique<Extras>();
    extras->expiry.message = this;
  }
  return *extras;
}

}  // namespace sluice::engine
