#pragma once
// sluice/consumer.h: take messages from a queue, and say what became of each.
//
// Threads  a Consumer's functions, and settling a Delivery, may be called from any thread. A Delivery itself belongs to one thread
//          at a time.
// Source   spec/protocol.md sections 8 and 9.

#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/client.h"

namespace sluice {

namespace internal {
class ConsumerCore;
struct DeliveredFrame;
}  // namespace internal

struct ConsumeOptions {
  std::uint32_t prefetch = 16;                 // credit in messages: 1 to 65,535
  std::uint64_t prefetch_bytes = 1024 * 1024;  // credit in bytes
  // Leases of held deliveries are extended by the library while the handler works, until this long in total; 0 = never.
  Milliseconds extend_up_to{0};
  // Instead of a queue, whose name is empty then: a subscription without a name. The broker makes a queue of this consumer's
  // own, bound to this pattern, and removes it with the consumer or its connection. After a reconnect there is a new one: what
  // was published in between, or held, is missed. For a subscription that stays, Client::bind() a queue.
  std::string topic;
  QueuePolicy policy;  // of that queue; only with `topic`
};

// One delivery of one message. Move-only. Settled once; if it is destroyed unsettled, it is nacked with the reason "dropped
// without settlement" (so that a message which nobody can handle reaches the dead letters).
// Settling returns at once. Whether it still counted is told by on_stale of the consumer.
class Delivery {
 public:
  Delivery() = default;
  ~Delivery();
  Delivery(Delivery&& other) noexcept;
  Delivery& operator=(Delivery&& other) noexcept;
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  std::uint64_t id() const { return id_; }
  std::uint64_t lease() const { return lease_; }
  // 1 for the first delivery of this message.
  std::uint64_t count() const { return count_; }
  std::uint64_t attempts() const { return attempts_; }
  int priority() const { return priority_; }
  // Valid as long as this delivery.
  std::string_view payload() const { return payload_; }
  std::string_view encoded_headers() const { return headers_; }
  Headers headers() const;
  // Set for messages of a dead-letter queue.
  std::optional<DeadLetter> dead() const;
  // The lease as told by the broker, less what went by since it was received; negative when over.
  Milliseconds lease_left() const;

  void ack();
  void nack(std::string_view reason = {}, std::optional<Milliseconds> delay = std::nullopt);
  void release();
  void reject(std::string_view reason = {});
  // The lease ends this long from now; without a value, the queue's lease. Does not settle.
  void extend(std::optional<Milliseconds> lease = std::nullopt);
  bool settled() const { return frame_ == nullptr; }

 private:
  friend class internal::ConsumerCore;
  std::shared_ptr<internal::DeliveredFrame>
      frame_;  // keeps the bytes and the consumer alive; null once settled or empty
  std::string_view payload_;
  std::string_view headers_;
  std::string_view dead_;
  std::uint64_t id_ = 0;
  std::uint64_t lease_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t attempts_ = 0;
  int priority_ = 4;
  std::chrono::steady_clock::time_point extended_until_{};  // by extend() of this delivery alone
};

class Consumer {
 public:
  // Runs `handler` for each delivery on a thread of this consumer's own, one at a time. A handler that throws nacks with the
  // exception's text; one that returns without settling acks.
  using Handler = std::function<void(Delivery& delivery)>;
  Consumer(Client& client, std::string_view queue, Handler handler, const ConsumeOptions& options = {});

  // Pulled: receive() hands out the deliveries.
  Consumer(Client& client, std::string_view queue, const ConsumeOptions& options = {});

  // Closes.
  ~Consumer();
  Consumer(Consumer&&) noexcept;
  Consumer& operator=(Consumer&&) noexcept;
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // The next delivery; nullopt after `timeout`, or when the consumer was closed and nothing is left. Without a timeout,
  // waits. Throws when the consumer failed (its queue was deleted, the client gave up reconnecting). Pulled consumers only.
  std::optional<Delivery> receive(std::optional<Milliseconds> timeout = std::nullopt);

  // Called on the client's callback thread when a settlement came too late, and when the broker ended a lease. Set before the first
  // delivery is settled.
  using StaleCallback =
      std::function<void(std::uint64_t first_lease, std::uint64_t last_lease, const ClientError& why)>;
  void on_stale(StaleCallback callback);

  // Why no deliveries come any more (the queue was deleted, the client gave up); nullopt while they may. For consumers with a
  // handler, whose thread ends then; receive() throws it.
  std::optional<ClientError> failure() const;

  // No further deliveries; buffered ones that nobody started are released; a running handler is waited for (not when called
  // from inside it). Called twice, does nothing.
  void close();

  // for (Delivery& delivery : consumer) ...: until closed. Each delivery that the body leaves unsettled is nacked.
  class Iterator;
  Iterator begin();
  std::default_sentinel_t end() { return {}; }

 private:
  std::shared_ptr<internal::ConsumerCore> core_;
};

class Consumer::Iterator {
 public:
  explicit Iterator(Consumer* consumer) : consumer_(consumer) { ++*this; }
  Delivery& operator*() { return *delivery_; }
  Delivery* operator->() { return &*delivery_; }
  Iterator& operator++() {
    delivery_.reset();
    delivery_ = consumer_->receive();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !delivery_.has_value(); }

 private:
  Consumer* consumer_;
  std::optional<Delivery> delivery_;
};

inline Consumer::Iterator Consumer::begin() { return Iterator(this); }

}  // namespace sluice
