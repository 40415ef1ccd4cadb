#include "sluice/client.h"

#include <utility>

#include "convert.h"
#include "core.h"
#include "headers.h"
#include "validate.h"

namespace sluice {
namespace {

using internal::Completion;

void publish_to(internal::ClientCore& core, std::string_view target, std::string_view payload,
                const PublishOptions& options, Completion completion) {
  if (options.to_topic) {
    internal::check_topic(target);
  } else {
    internal::check_queue_name(target);
  }
  wire::PublishMessage message;
  message.payload = payload;
  wire::Buffer headers;
  if (!options.encoded_headers.empty()) {
    internal::check_encoded_headers(options.encoded_headers);
    message.headers = options.encoded_headers;
  } else if (!options.headers.empty()) {
    internal::encode_headers(options.headers, headers);
    message.headers = headers.view();
  }
  if (options.priority) message.priority = internal::checked_priority(*options.priority);
  message.delay_ms = internal::checked_delay(options.delay);
  if (options.ttl) message.ttl_ms = internal::checked_ttl(*options.ttl);
  internal::check_dedup_key(options.dedup_key);
  message.dedup_key = options.dedup_key;
  const auto kind = options.to_topic ? wire::PublishKind::topic : wire::PublishKind::queue;
  core.publisher().publish({target, kind}, message, std::move(completion));
}

wire::Map named(std::string_view queue) {
  internal::check_queue_name(queue);
  wire::Map map;
  map.set("name", queue);
  return map;
}

wire::Map binding(std::string_view queue, std::string_view pattern) {
  internal::check_queue_name(queue);
  internal::check_pattern(pattern);
  wire::Map map;
  map.set("queue", queue).set("pattern", pattern);
  return map;
}

}  // namespace

Client::Client(const std::string& url, ClientOptions options)
    : core_(std::make_shared<internal::ClientCore>(url, options)) {}

Client::~Client() {
  if (core_ != nullptr) core_->close();
}

Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this == &other) return *this;
  if (core_ != nullptr) core_->close();
  core_ = std::move(other.core_);
  return *this;
}

std::future<Receipt> Client::publish(std::string_view queue, std::string_view payload, const PublishOptions& options) {
  std::promise<Receipt> promise;
  std::future<Receipt> future = promise.get_future();
  publish_to(*core_, queue, payload, options, std::move(promise));
  return future;
}

void Client::publish(std::string_view queue, std::string_view payload, const PublishOptions& options,
                     PublishCallback done) {
  if (done == nullptr) return publish_nowait(queue, payload, options);
  publish_to(*core_, queue, payload, options, std::move(done));
}

void Client::publish_nowait(std::string_view queue, std::string_view payload, const PublishOptions& options) {
  publish_to(*core_, queue, payload, options, {});
}

void Client::flush(std::optional<Milliseconds> timeout) { core_->publisher().flush(timeout); }
std::uint64_t Client::unconfirmed() const { return core_->publisher().unconfirmed(); }
std::uint64_t Client::confirmed() const { return core_->publisher().confirmed(); }

QueueInfo Client::declare_queue(std::string_view queue, const QueuePolicy& policy, bool* created) {
  wire::Map arguments = named(queue);
  if (wire::Map map = internal::to_wire(policy); !map.empty()) arguments.set("policy", std::move(map));
  const wire::Map result = core_->call("queue.declare", std::move(arguments));
  if (created != nullptr) *created = internal::to_bool(result, "created");
  return internal::to_queue_info(internal::to_map(result, "queue"));
}

QueueInfo Client::queue_info(std::string_view queue) {
  const wire::Map result = core_->call("queue.info", named(queue));
  return internal::to_queue_info(result);
}

QueueList Client::list_queues(std::string_view prefix, std::string_view after, std::uint64_t limit) {
  wire::Map arguments;
  arguments.set("prefix", prefix).set("after", after).set("limit", limit);
  return internal::to_queue_list(core_->call("queue.list", std::move(arguments)));
}

PurgeResult Client::purge_queue(std::string_view queue) {
  const wire::Map result = core_->call("queue.purge", named(queue));
  return {internal::to_uint(result, "purged"), internal::to_uint(result, "leased")};
}

std::uint64_t Client::delete_queue(std::string_view queue) {
  return internal::to_uint(core_->call("queue.delete", named(queue)), "deleted_messages");
}

MessageList Client::peek(std::string_view queue, std::uint64_t limit, std::uint64_t after) {
  wire::Map arguments = named(queue);
  arguments.set("limit", limit).set("after", after);
  return internal::to_message_list(core_->call("queue.peek", std::move(arguments)));
}

ReplayResult Client::replay(std::string_view dead_letter_queue, const ReplayOptions& options) {
  internal::check_queue_name(dead_letter_queue);
  if (!options.to.empty()) internal::check_queue_name(options.to);
  const wire::Map result = core_->call("dlq.replay", internal::to_wire(dead_letter_queue, options));
  return {internal::to_uint(result, "replayed"), internal::to_uint(result, "refused")};
}

ServerInfo Client::server_info() {
  const wire::Map result = core_->call("server.info", {});
  return internal::to_server_info(result);
}

QueueInfo Client::edit_queue(std::string_view queue, const QueuePolicy& policy) {
  wire::Map arguments = named(queue);
  arguments.set("policy", internal::to_wire(policy));
  return internal::to_queue_info(core_->call("queue.edit", std::move(arguments)));
}

QueueInfo Client::pause_queue(std::string_view queue) {
  return internal::to_queue_info(core_->call("queue.pause", named(queue)));
}

QueueInfo Client::resume_queue(std::string_view queue) {
  return internal::to_queue_info(core_->call("queue.resume", named(queue)));
}

bool Client::bind(std::string_view queue, std::string_view pattern) {
  return internal::to_bool(core_->call("bind.add", binding(queue, pattern)), "added");
}

bool Client::unbind(std::string_view queue, std::string_view pattern) {
  return internal::to_bool(core_->call("bind.remove", binding(queue, pattern)), "removed");
}

BindingList Client::list_bindings(std::string_view queue, std::string_view prefix, const Binding& after,
                                  std::uint64_t limit) {
  wire::Map arguments;
  arguments.set("queue", queue).set("prefix", prefix).set("after_queue", after.queue);
  arguments.set("after_pattern", after.pattern).set("limit", limit);
  return internal::to_binding_list(core_->call("bind.list", std::move(arguments)));
}

ConsumerList Client::list_consumers(std::string_view queue, std::string_view after, std::uint64_t limit) {
  wire::Map arguments;
  arguments.set("queue", queue).set("after", after).set("limit", limit);
  return internal::to_consumer_list(core_->call("consumer.list", std::move(arguments)));
}

SessionList Client::list_sessions(std::uint64_t after, std::uint64_t limit) {
  wire::Map arguments;
  arguments.set("after", after).set("limit", limit);
  return internal::to_session_list(core_->call("session.list", std::move(arguments)));
}

bool Client::close_session(std::uint64_t session) {
  wire::Map arguments;
  arguments.set("session", session);
  return internal::to_bool(core_->call("session.close", std::move(arguments)), "closed");
}

void Client::drain_server() { core_->call("server.drain", {}); }

void Client::on_state(StateCallback callback) { core_->on_state(std::move(callback)); }
void Client::close() { core_->close(); }

}  // namespace sluice
