#pragma once
// clients/cpp/publisher.h: publishes -> batches -> PUBLISH frames, and what became of them.
//
// Place    callers -> [publisher] -> I/O thread -> broker, and CONFIRM back.
// Shapes   A batch is one frame for one target, a queue or a topic. Its bytes are kept until each of its sequences is decided, and sent again as they are.
// Threads  the first group any thread; the second the I/O thread.
// Source   spec/protocol.md section 7.
//
// When a batch leaves: at once while fewer than kPartialFramesMax frames are under way, else when it is full or a CONFIRM
// arrives. So a lone message never waits, and under load the batches grow by themselves.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "callbacks.h"
#include "sluice/client.h"
#include "wake.h"
#include "wire/codec.h"

namespace sluice::internal {

// Who is told: nobody (flush() tells), a future or a callback.
using Completion = std::variant<std::monostate, std::promise<Receipt>, Client::PublishCallback>;

// Where a publish goes.
struct PublishTarget {
  std::string_view name;
  wire::PublishKind kind = wire::PublishKind::queue;
};

class Publisher {
 public:
  Publisher(const ClientOptions& options, std::shared_ptr<Wake> wake, std::shared_ptr<Callbacks> callbacks);

  // Blocks while too much is unconfirmed. Throws frame_too_large, and the failure after stop() or fail_all().
  // REQUIRES: a good name for its kind, and a message that can be encoded.
  void publish(PublishTarget target, const wire::PublishMessage& message, Completion completion);
  void flush(std::optional<Milliseconds> timeout);
  // No publishes from now on.
  void stop(const ClientError& error);
  // Until everything is decided. False: not by `deadline`.
  bool wait_decided(TimePoint deadline);
  std::uint64_t unconfirmed() const;
  std::uint64_t confirmed() const { return confirmed_.load(std::memory_order_relaxed); }

  // False: this broker knows less of the producer than it confirmed before; a new producer must begin.
  bool accepts(const wire::Welcome& welcome) const;
  void session_opened(const wire::Welcome& welcome);
  void session_lost();
  // The frame that may be sent now, or null; sent() when it was.
  std::shared_ptr<const wire::Buffer> next_frame();
  void sent();
  void confirm(const wire::Confirm& confirm);
  // Undecided publishes fail, and all later ones.
  void fail_all(const ClientError& error);

 private:
  static constexpr std::uint64_t kPartialFramesMax = 2;

  struct Waiting {
    std::uint64_t index;
    Completion completion;
  };
  struct Batch {
    std::uint64_t first_sequence = 0;
    std::uint64_t count = 0;
    std::uint64_t undecided = 0;
    std::size_t bytes = 0;         // payloads and headers
    std::vector<Waiting> waiting;  // by index
    std::vector<bool> decided;     // empty while nothing or all is
    std::shared_ptr<const wire::Buffer> frame;
  };
  // What one CONFIRM changed.
  struct Decided {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::size_t bytes = 0;
    std::optional<ClientError> nowait_error;
    std::vector<Callbacks::Callback> callbacks;
  };

  using Lock = std::unique_lock<std::mutex>;
  void wait_for_room(Lock& lock, std::size_t bytes);
  void check_frame_size(PublishTarget target, const wire::PublishMessage& message) const;
  bool joins_open_batch(PublishTarget target, const wire::PublishMessage& message) const;
  void close_open_batch();
  void request_wake();
  void take_batches();
  Batch* find_sent(std::uint64_t sequence);
  void accept(const wire::Accepted& range, Decided& out);
  void refuse(const wire::Refused& range, Decided& out);
  // Calls tell(completion, index) for each completion of [index, index + count) that is decided by this. Returns how many are.
  template <class Tell>
  std::uint64_t decide(Batch& batch, std::uint64_t index, std::uint64_t count, Tell tell);
  // The same for any range; `tell` gets the place in it.
  template <class Tell>
  std::uint64_t decide_range(std::uint64_t first, std::uint64_t count, Decided& out, Tell tell);
  void publish_decided(Decided decided);
  static void fail(Completion completion, const ClientError& error, Decided& out);

  const ClientOptions options_;
  const std::shared_ptr<Wake> wake_;
  const std::shared_ptr<Callbacks> callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable decided_;
  wire::PublishWriter writer_;  // the open batch ...
  Batch open_;                  // ... and what is known of it
  std::string open_name_;
  wire::PublishKind open_kind_ = wire::PublishKind::queue;
  std::vector<Batch> closed_;  // not yet taken by the I/O thread
  std::uint64_t next_sequence_ = 1;
  std::uint64_t decided_below_ = 1;  // every sequence below is decided
  std::uint64_t unconfirmed_messages_ = 0;
  std::size_t unconfirmed_bytes_ = 0;
  std::uint64_t messages_max_;  // options and window
  std::size_t bytes_max_;
  std::uint64_t batch_messages_max_;
  std::size_t frame_bytes_max_ = 0;  // 0: not known yet
  std::uint32_t waiting_for_room_ = 0;
  bool wake_requested_ = false;
  std::optional<ClientError> first_nowait_error_;
  std::optional<ClientError> failure_;

  // The I/O thread's; batches_ in order of sequence, the first `sent_` of them sent on this connection.
  std::deque<Batch> batches_;
  std::size_t sent_ = 0;
  bool connected_ = false;
  std::uint64_t sent_messages_ = 0;  // sent and undecided
  std::size_t sent_bytes_ = 0;
  std::uint64_t window_messages_ = 0;
  std::size_t window_bytes_ = 0;

  std::atomic<std::uint64_t> frames_under_way_{0};
  std::atomic<std::uint64_t> confirmed_{0};
};

}  // namespace sluice::internal
