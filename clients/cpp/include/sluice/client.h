#pragma once
// sluice/client.h: publish to and administer a Sluice broker; consume with sluice/consumer.h.
//
// Shapes   one Client is one session with one broker; any number of publishers and consumers share it.
// Units    std::chrono durations; sizes in bytes.
// Errors   ClientError (sluice/error.h).
// Threads  every function may be called from any thread, also from inside callbacks, unless its comment says otherwise.
//          The client owns one I/O thread, which alone touches the socket. Callbacks run on one callback thread of the
//          client, never on the caller's.
// Owns     its threads and socket; closed by close() or the destructor (both bounded by ClientOptions::close_timeout).
// Source   spec/protocol.md.

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sluice/error.h"

namespace sluice {

namespace internal {
class ClientCore;
}

using Milliseconds = std::chrono::milliseconds;

// Header values: what most programs need. A Map of the wire that holds more (nested arrays and maps) is passed on by the broker and
// kept in Delivery::encoded_headers(); Delivery::headers() leaves out what does not fit here.
using HeaderValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::byte>>;
using Headers = std::map<std::string, HeaderValue>;

struct ClientOptions {
  std::string name;                      // for the broker's logs and lists
  Milliseconds connect_timeout{5'000};   // for the first connection; the constructor throws after it
  Milliseconds request_timeout{10'000};  // for admin calls, declare and consume
  Milliseconds close_timeout{5'000};     // for close(): unconfirmed publishes get this long
  Milliseconds heartbeat{5'000};
  Milliseconds reconnect_delay_min{50};  // grows x2 with jitter
  Milliseconds reconnect_delay_max{5'000};
  // Total time without a broker after which everything fails; none = never.
  std::optional<Milliseconds> reconnect_give_up;
  std::uint32_t batch_messages_max = 256;  // messages a PUBLISH frame; 1 = no batching
  std::size_t batch_bytes_max = 256 * 1024;
  std::uint32_t unconfirmed_messages_max = 65'536;  // publish() blocks above it (also bounded by the broker's window)
  std::size_t unconfirmed_bytes_max = 64 * 1024 * 1024;
};

struct PublishOptions {
  Headers headers;
  std::string_view encoded_headers;  // instead of headers: one MessagePack map, passed on byte for byte
  std::optional<int> priority;       // 0 to 9
  Milliseconds delay{0};
  // 1 ms to 10 years from now; none: the queue's ttl_ms.
  std::optional<Milliseconds> ttl;
  // 1 to 255 bytes of UTF-8, empty: none. Another message of the same key to the same queue (within its dedup_window_ms) or topic
  // (2 minutes) is not enqueued; its receipt is that of the first.
  std::string_view dedup_key;
  // The first argument is a topic: each queue that is bound to a matching pattern gets the message, or none does. Refused with
  // no_route if there is no such queue.
  bool to_topic = false;
};

// What became of a publish.
struct Receipt {
  std::uint64_t message_id = 0;
};

enum class ConnectionState { connected, disconnected, reconnecting, closed };

struct BackoffPolicy {
  std::optional<std::uint64_t> initial_ms;
  std::optional<double> factor;
  std::optional<std::uint64_t> max_ms;
  std::optional<double> jitter;  // 0.2 = +-20 %
};

// Only what differs from the broker's defaults; rules and ranges in spec/semantics.md.
struct QueuePolicy {
  std::optional<std::uint64_t> lease_ms;
  std::optional<std::uint64_t> max_attempts;
  BackoffPolicy backoff;
  std::optional<std::uint64_t> max_messages;
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::uint64_t> dead_letter_max;
  std::optional<std::string> overflow;            // reject, block, drop_oldest, dead_letter_oldest
  std::optional<std::uint64_t> block_timeout_ms;  // for block
  std::optional<std::uint64_t> ttl_ms;            // of messages without their own; 0: none
  std::optional<std::string> on_expiry;           // dead_letter, drop
  std::optional<std::uint64_t> dedup_window_ms;   // 0: keys are not remembered
  std::optional<bool> durable;                    // messages outlive the broker; only where it has a journal
};

struct QueueInfo {
  std::string name;
  std::uint64_t ready = 0, delayed = 0, leased = 0, dead = 0, consumers = 0, oldest_age_ms = 0, bytes = 0;
  QueuePolicy policy;  // every field set
  std::map<std::string, std::uint64_t> counters;
  bool paused = false;  // delivers nothing until resumed
};

// Why and how a message became a dead letter.
struct DeadLetter {
  std::string origin;                                    // queue it came from
  std::string reason;                                    // rejected, attempts, expired, overflow
  std::string error;                                     // the consumer's last error text
  std::uint64_t first_published_ms = 0, dead_at_ms = 0;  // Unix time
  std::map<std::string, std::uint64_t> counters;         // deliveries, nacks, expiries, disconnects, releases
};

struct MessageInfo {
  std::uint64_t id = 0;        // kept for life
  std::uint64_t position = 0;  // place in this queue
  std::string state;           // ready, delayed, leased
  std::string payload;         // at most 64 KiB of it
  std::uint64_t payload_bytes = 0;
  std::string encoded_headers;
  Headers headers;
  int priority = 4;
  std::uint64_t published_ms = 0;       // Unix time
  std::optional<std::uint64_t> due_ms;  // Unix time
  std::uint64_t deliveries = 0, nacks = 0, expiries = 0, disconnects = 0, releases = 0;
  std::string error;
  std::optional<DeadLetter> dead;
  std::optional<std::uint64_t> expires_ms;  // Unix time; only of a message with a time to live
};

struct QueueList {
  std::vector<QueueInfo> queues;
  bool more = false;
};
struct MessageList {
  std::vector<MessageInfo> messages;
  bool more = false;
};
// A queue gets what is published to a topic that its pattern matches.
struct Binding {
  std::string queue;
  std::string pattern;
  friend bool operator==(const Binding&, const Binding&) = default;
};
struct BindingList {
  std::vector<Binding> bindings;  // in order of queue, then pattern
  bool more = false;
};
struct ConsumerInfo {
  std::string queue;
  std::uint64_t session = 0;
  std::uint64_t consumer = 0;  // unique within its session
  std::uint64_t held = 0;      // leases
  std::uint64_t credit_messages = 0, credit_bytes = 0;
};
struct ConsumerList {
  std::vector<ConsumerInfo> consumers;  // in order of queue
  bool more = false;
};
struct SessionInfo {
  std::uint64_t session = 0;
  std::string client;  // ClientOptions::name
  std::string agent;   // its library and version
  std::uint64_t consumers = 0;
  std::uint64_t connected_ms = 0, idle_ms = 0;  // since HELLO, since something was last heard
  std::uint64_t outbox_bytes = 0;               // waiting to be sent to it
};
struct SessionList {
  std::vector<SessionInfo> sessions;  // in order of number
  bool more = false;
};
struct PurgeResult {
  std::uint64_t purged = 0, leased = 0;
};
struct ReplayOptions {
  std::string to;                  // empty: each message's origin
  std::vector<std::uint64_t> ids;  // empty: all that are there now
  std::string reason;              // empty: any
  std::uint64_t limit = 0;         // 0: none
  bool dry_run = false;
};
struct ReplayResult {
  std::uint64_t replayed = 0, refused = 0;
};
struct ServerInfo {
  std::string version;
  std::string sync;
  std::uint64_t protocol = 0, session = 0, uptime_ms = 0, sessions = 0, consumers = 0, queues = 0, ready = 0,
                delayed = 0, leased = 0, memory_bytes = 0;
  std::map<std::string, std::uint64_t> counters;
};

class Client {
 public:
  // Connects, e.g. to "tcp://127.0.0.1:5570" or "ipc:///run/sluice.sock". Throws not_connected or bad_argument.
  explicit Client(const std::string& url, ClientOptions options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // --- Publishing. The payload is copied before the call returns. Single publishes are joined into batches by the
  // library. Blocks while the unconfirmed limit is reached, also while disconnected. Unconfirmed messages are sent
  // again after a reconnect, without doubling. Throws bad_queue_name, bad_topic, bad_argument (priority, times, dedup
  // key), headers_too_large, bad_headers, frame_too_large and closed. `queue` is a topic if options.to_topic says so.

  // The future holds the receipt, or throws ClientError. The cheap ways are the two below.
  std::future<Receipt> publish(std::string_view queue, std::string_view payload, const PublishOptions& options = {});

  // Exactly one call of `done` a publish: with a receipt, or with the error (receipt null).
  using PublishCallback = std::function<void(const Receipt* receipt, const ClientError* error)>;
  void publish(std::string_view queue, std::string_view payload, const PublishOptions& options, PublishCallback done);

  // No answer a message: flush() tells. The fastest way.
  void publish_nowait(std::string_view queue, std::string_view payload, const PublishOptions& options = {});

  // Waits until everything published before is decided. Throws the first error of a publish_nowait() since the last
  // flush(), or timeout. Not to be called from inside a callback.
  void flush(std::optional<Milliseconds> timeout = std::nullopt);

  // Published and not yet decided.
  std::uint64_t unconfirmed() const;
  // Confirmed as accepted since the client was made.
  std::uint64_t confirmed() const;

  // --- Administration. Each waits for its reply; throws the broker's error, timeout, connection_lost, closed. Not to be
  // called from inside a callback of this client.

  QueueInfo declare_queue(std::string_view queue, const QueuePolicy& policy = {}, bool* created = nullptr);
  QueueInfo queue_info(std::string_view queue);
  QueueList list_queues(std::string_view prefix = "", std::string_view after = "", std::uint64_t limit = 1'000);
  PurgeResult purge_queue(std::string_view queue);
  std::uint64_t delete_queue(std::string_view queue);  // returns the messages that went with it
  MessageList peek(std::string_view queue, std::uint64_t limit = 10, std::uint64_t after = 0);
  ReplayResult replay(std::string_view dead_letter_queue, const ReplayOptions& options = {});
  ServerInfo server_info();

  // Sets what is set in `policy`, and leaves the rest. Holds at once; messages beyond a lowered limit stay.
  QueueInfo edit_queue(std::string_view queue, const QueuePolicy& policy);
  // No deliveries until it is resumed; what is leased may still be settled, and publishing goes on.
  QueueInfo pause_queue(std::string_view queue);
  QueueInfo resume_queue(std::string_view queue);

  // Patterns are words divided by dots, with * for any one word and # as the last for any number. Creates the queue if there is
  // none. False: it was bound to it already.
  bool bind(std::string_view queue, std::string_view pattern);
  // False: it was not bound to it.
  bool unbind(std::string_view queue, std::string_view pattern);
  // Of one queue, of those whose name begins with `prefix`, or all. `after`: the last binding of the page before.
  BindingList list_bindings(std::string_view queue = "", std::string_view prefix = "", const Binding& after = {},
                            std::uint64_t limit = 1'000);
  // Of one queue, or all. A page ends with the last consumer of a queue; `after`: the last queue of the page before.
  ConsumerList list_consumers(std::string_view queue = "", std::string_view after = "", std::uint64_t limit = 1'000);
  // `after`: the last session of the page before.
  SessionList list_sessions(std::uint64_t after = 0, std::uint64_t limit = 500);
  // Cuts a client off; it may connect again. False: there is no such session.
  bool close_session(std::uint64_t session);
  // Has the broker take nothing new, let what is leased be settled, and end. Returns when it has begun.
  void drain_server();

  // --- The connection.

  // Called on the callback thread, at every change. Set it once, before anything else.
  using StateCallback = std::function<void(ConnectionState state, const std::string& why)>;
  void on_state(StateCallback callback);

  // Gives back unstarted deliveries, waits for unconfirmed publishes (at most close_timeout), says BYE. Publishes still
  // undecided fail with closed; their callbacks get a second more. Called twice, does nothing. From inside a callback or handler
  // it does not wait for those that run.
  void close();

  // For sluice/consumer.h.
  const std::shared_ptr<internal::ClientCore>& core() const { return core_; }

 private:
  std::shared_ptr<internal::ClientCore> core_;
};

}  // namespace sluice
