#pragma once
// engine/publisher.h: PUBLISH frames, and the one CONFIRM a turn that answers them.
//
// Shapes   a message is told its outcome once: accepted, refused, or (overflow `block`) later.
// Errors   in CONFIRM: sequence_gap, publish_window, frame_too_large, bad_queue_name, unknown_queue, queue_limit, bad_topic,
//          no_route, queue_full, dedup_limit, queue_deleted.
// Threads  one.
// Source   spec/protocol.md section 7; spec/semantics.md "Overflow", "Topics".

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/blocked.h"
#include "engine/dead_letters.h"
#include "engine/effects.h"
#include "engine/messages.h"
#include "engine/now.h"
#include "engine/peer.h"
#include "engine/queue_table.h"
#include "engine/topic_index.h"

namespace sluice::engine {

struct PublishWindow {
  std::uint64_t messages = 65'536;
  std::uint64_t bytes = 64ULL * 1024 * 1024;
};

class Publisher {
 public:
  Publisher(const PublishWindow& window, std::uint64_t message_bytes_max, QueueTable& queues, Messages& messages,
            DeadLetters& dead_letters, TopicIndex& topics, Records& records, Effects& effects)
      : window_(window),
        message_bytes_max_(message_bytes_max),
        queues_(queues),
        messages_(messages),
        dead_letters_(dead_letters),
        topics_(topics),
        records_(records),
        effects_(effects) {}

  void publish(Peer& peer, const wire::Publish& frame, const Now& now);
  // Refuses `count` messages from `first_sequence` on, which could not be decoded.
  void refuse(Peer& peer, std::uint64_t first_sequence, std::uint64_t count, const wire::ErrorBody& error);
  // Lets in what waited and has room now, and refuses what waited too long.
  void admit_blocked(const Now& now);
  // Sends this turn's confirmations.
  void confirm();
  // The session goes: what it published and waits is dropped, undecided.
  void forget(Peer& peer);
  // The queue goes: what waits for it is refused.
  void forget(Queue& queue);

  std::optional<std::uint64_t> next_ms() { return blocked_wheel_.next_ms(); }
  // Nothing new is taken while there is an error: no room on disk, or in memory.
  void hold(std::optional<wire::ErrorBody> error) { held_ = std::move(error); }

  std::uint64_t refused() const { return refused_; }
  DedupKeys& topic_keys() { return topic_keys_; }

 private:
  // Where messages of one frame go: looked up once.
  struct Target {
    std::string_view name;
    wire::PublishKind kind = wire::PublishKind::queue;
    std::vector<Queue*> queues;  // empty: not looked up yet
  };
  enum class Room : std::uint8_t { yes, no, wait };

  void publish_one(Peer& peer, Target& target, std::uint64_t sequence, const wire::PublishMessage& message,
                   const Now& now);
  bool answer_again(Peer& peer, std::uint64_t sequence);
  std::optional<wire::ErrorBody> check(const Peer& peer, const wire::PublishMessage& message) const;
  std::optional<wire::ErrorBody> find_queues(Target& target);
  // Where keys of that target are remembered, and for how long; no keys: they are not.
  struct Remembered {
    DedupKeys* keys = nullptr;
    std::uint64_t window_ms = 0;
    std::string key;
  };
  Remembered remembered(Target& target, std::string_view key);
  // Decides the message, unless a queue makes it wait: that queue is returned.
  Queue* decide(Peer& peer, Target& target, std::uint64_t sequence, const wire::PublishMessage& message, const Now& now,
                const Blocked* waited);
  Room room_in(const Queue& queue, std::uint64_t bytes, const Blocked* waited) const;
  void make_room(Queue& queue, std::uint64_t bytes, const Now& now);
  MessageId enqueue(const Target& target, const wire::PublishMessage& message, const Publication& publication,
                    const Now& now);
  void accept_one(Peer& peer, std::uint64_t sequence, MessageId id);
  void refuse_one(Peer& peer, std::uint64_t sequence, const wire::ErrorBody& error);
  // The place of a publish among those that wait, and until when.
  struct Line {
    std::uint64_t order = 0;
    std::uint64_t until_ms = 0;
  };
  void block(Peer& peer, const Target& target, Queue& queue, std::uint64_t sequence,
             const wire::PublishMessage& message, Line line);
  void hand_over(Blocked& blocked, Peer& to);
  std::unique_ptr<Blocked> unblock(Blocked& blocked);
  void admit_blocked(Queue& queue, const Now& now);
  void answers(Peer& peer);

  PublishWindow window_;
  std::uint64_t message_bytes_max_;
  QueueTable& queues_;
  Messages& messages_;
  DeadLetters& dead_letters_;
  TopicIndex& topics_;
  Records& records_;
  Effects& effects_;
  std::vector<Peer*> confirming_;
  std::vector<Message*> copies_;  // of one publish
  DedupKeys topic_keys_;          // of all topics
  TimerWheel<Blocked> blocked_wheel_;
  std::map<std::string, Queue*, std::less<>> blocked_queues_;  // those that somebody waits for, by name
  std::uint64_t next_order_ = 1;
  std::uint64_t refused_ = 0;
  std::optional<wire::ErrorBody> held_;
};

}  // namespace sluice::engine
