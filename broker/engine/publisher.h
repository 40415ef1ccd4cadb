#pragma once
// engine/publisher.h: PUBLISH frames, and the one CONFIRM a turn that answers them.
//
// Errors   in CONFIRM: sequence_gap, publish_window, bad_queue_name, unknown_queue, queue_limit, queue_full, frame_too_large.
// Threads  one.
// Source   spec/protocol.md section 7.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/effects.h"
#include "engine/messages.h"
#include "engine/now.h"
#include "engine/peer.h"
#include "engine/queue_table.h"

namespace sluice::engine {

struct PublishWindow {
  std::uint64_t messages = 65'536;
  std::uint64_t bytes = 64ULL * 1024 * 1024;
};

class Publisher {
 public:
  Publisher(const PublishWindow& window, std::uint64_t message_bytes_max, QueueTable& queues, Messages& messages,
            Effects& effects)
      : window_(window), message_bytes_max_(message_bytes_max), queues_(queues), messages_(messages), effects_(effects) {}

  void publish(Peer& peer, const wire::Publish& frame, const Now& now);
  // Refuses `count` messages from `first_sequence` on, which could not be decoded.
  void refuse(Peer& peer, std::uint64_t first_sequence, std::uint64_t count, const wire::ErrorBody& error);
  // Sends this turn's confirmations.
  void confirm();
  void forget(Peer& peer);

  std::uint64_t refused() const { return refused_; }

 private:
  // `queue` is looked up, or made, only for a message that is not refused for its own sake.
  void publish_one(Peer& peer, std::string_view name, Queue*& queue, std::uint64_t sequence,
                   const wire::PublishMessage& message, const Now& now);
  std::optional<wire::ErrorBody> check(const Peer& peer, const wire::PublishMessage& message) const;
  void refuse_one(Peer& peer, std::uint64_t sequence, const wire::ErrorBody& error);
  void answers(Peer& peer);

  PublishWindow window_;
  std::uint64_t message_bytes_max_;
  QueueTable& queues_;
  Messages& messages_;
  Effects& effects_;
  std::vector<Peer*> confirming_;
  std::uint64_t refused_ = 0;
};

}  // namespace sluice::engine
