#include "requests.h"

#include <future>
#include <utility>

#include "errors.h"
#include "wire/codec.h"

namespace sluice::internal {

wire::Map Requests::call(std::string verb, wire::Map arguments, Milliseconds timeout) {
  auto promise = std::make_shared<std::promise<Outcome>>();
  std::future<Outcome> future = promise->get_future();
  wire::Request request{0, std::move(verb), std::move(arguments)};
  {
    const std::lock_guard lock(mutex_);
    if (failure_) throw *failure_;
    request.request = next_request_++;
    wire::Buffer frame;
    wire::encode(wire::ClientFrame(request), frame);
    const std::uint64_t limit = frame_bytes_max_;
    if (limit != 0 && frame.size() > limit) {
      throw make_error(ErrorCode::frame_too_large, "the request has " + std::to_string(frame.size()) +
                                                       " bytes, at most " + std::to_string(limit) + " are allowed");
    }
    pending_.emplace(request.request,
                     Pending{[promise](Outcome outcome) { promise->set_value(std::move(outcome)); }, false});
    outgoing_.push_back({request.request, std::move(frame)});
  }
  wake_->notify();
  if (future.wait_for(timeout) != std::future_status::ready && remove(request.request)) {
    throw make_local_error(kErrorTimeout,
                           request.verb + " was not answered within " + std::to_string(timeout.count()) + " ms");
  }
  Outcome outcome = future.get();  // in time, or taken by the I/O thread at this very moment
  if (!outcome) throw outcome.error();
  return *std::move(outcome);
}

std::uint64_t Requests::add(Handler handler) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t request = next_request_++;
  pending_.emplace(request, Pending{std::move(handler), true});
  return request;
}

std::optional<wire::Buffer> Requests::next_frame() {
  const std::lock_guard lock(mutex_);
  while (outgoing_next_ < outgoing_.size()) {
    Outgoing& next = outgoing_[outgoing_next_++];
    const auto found = pending_.find(next.request);
    if (found == pending_.end()) continue;  // its caller waits no longer: do not carry it out behind his back
    found->second.sent = true;
    return std::move(next.frame);
  }
  outgoing_.clear();
  outgoing_next_ = 0;
  return std::nullopt;
}

Requests::Handler Requests::remove(std::uint64_t request) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(request);
  if (found == pending_.end()) return nullptr;
  Handler handler = std::move(found->second.handler);
  pending_.erase(found);
  return handler;
}

void Requests::reply(wire::Reply reply) {
  const Handler handler = remove(reply.request);
  if (!handler) return;  // its caller timed out
  if (reply.error) {
    handler(tl::unexpected(make_error(*reply.error)));
  } else {
    handler(reply.result ? *std::move(reply.result) : wire::Map{});
  }
}

void Requests::connection_lost() {
  std::vector<Handler> handlers;
  {
    const std::lock_guard lock(mutex_);
    for (auto entry = pending_.begin(); entry != pending_.end();) {
      if (!entry->second.sent) {
        ++entry;
        continue;
      }
      handlers.push_back(std::move(entry->second.handler));
      entry = pending_.erase(entry);
    }
  }
  const ClientError error = make_local_error(
      kErrorConnectionLost, "the connection was lost; the request may or may not have been carried out");
  for (const Handler& handler : handlers) handler(tl::unexpected(error));
}

void Requests::fail_all(const ClientError& error) {
  std::unordered_map<std::uint64_t, Pending> pending;
  {
    const std::lock_guard lock(mutex_);
    failure_ = error;
    pending.swap(pending_);
    outgoing_.clear();
    outgoing_next_ = 0;
  }
  for (const auto& [request, entry] : pending) entry.handler(tl::unexpected(error));
}

}  // namespace sluice::internal
