#pragma once
// engine/effects.h: what the engine wants told to peers. The outbox implements it, tests record it.
//
// Place    engine -> [effects] -> outbox.
// Shapes   views and spans are valid during the call only.

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "engine/message.h"
#include "wire/frames.h"

namespace sluice::engine {

class Effects {
 public:
  virtual ~Effects() = default;
  virtual void confirm(SessionId session, const wire::Confirm& confirm) = 0;
  // Message i has the lease first_lease + i.
  virtual void deliver(SessionId session, std::uint64_t consumer, LeaseId first_lease, std::uint64_t lease_ms,
                       std::span<Message* const> messages) = 0;
  virtual void lease_lost(SessionId session, const wire::LeaseLost& lost) = 0;
  virtual void consumer_closed(SessionId session, const wire::ConsumerClosed& closed) = 0;
  virtual void settled(SessionId session, const wire::Settled& settled) = 0;
  virtual void reply(SessionId session, const wire::Reply& reply) = 0;
  virtual void error(SessionId session, const wire::ErrorFrame& error) = 0;
};

}  // namespace sluice::engine
