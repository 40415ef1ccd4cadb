// clients/cpp/io_receive.cpp: the I/O loop's half that takes the broker's frames.

#include <algorithm>
#include <utility>

#include "errors.h"
#include "io_loop.h"
#include "random.h"
#include "wire/codec.h"

namespace sluice::internal {
namespace {

// Frames a turn: sending must not wait for the end of a flood.
constexpr int kFramesPerTurn = 64;

// Deliveries are decoded in the memory that they stay in, so it is good to know them before. A guess: other formats of the
// same number are decoded twice.
bool looks_like_deliver(std::string_view frame) {
  return frame.size() > 1 &&
         static_cast<unsigned char>(frame[1]) == static_cast<unsigned char>(wire::FrameType::deliver);
}

}  // namespace

// True if there may be more.
bool IoLoop::receive() {
  for (int i = 0; i < kFramesPerTurn; ++i) {
    if (lost_ || !connection_->is_open() || !connection_->receive(received_)) return false;
    take_frame(received_);
  }
  return true;
}

void IoLoop::take_frame(Message& message) {
  if (phase_ == Phase::open) liveness_.received(Clock::now());
  if (looks_like_deliver(message.view())) return take_deliver(message);
  auto frame = wire::decode_broker_frame(message.view());
  if (!frame) {
    if (frame.error().code == ErrorCode::unknown_frame) return;  // of a newer broker
    lost_ = "the broker sent a frame that cannot be read: " + frame.error().text;
    return;
  }
  if (std::holds_alternative<wire::Deliver>(*frame)) return take_deliver(message);
  std::visit([this](auto& content) { take(content); }, *frame);
}

void IoLoop::take_deliver(Message& message) {
  auto delivered = std::make_shared<DeliveredFrame>();
  delivered->bytes.take(message);
  auto frame = wire::decode_broker_frame(delivered->bytes.view());
  auto* const content = frame ? std::get_if<wire::Deliver>(&*frame) : nullptr;
  if (content == nullptr) {
    lost_ = "the broker sent a DELIVER that cannot be read" + (frame ? std::string() : ": " + frame.error().text);
    return;
  }
  ConsumerCore* const consumer = find_consumer(content->consumer);
  if (consumer == nullptr) return;  // cancelled and forgotten; its leases run out
  consumed_lately_ = true;
  delivered->content = std::move(*content);
  consumer->deliver(std::move(delivered));
}

void IoLoop::take(const wire::Deliver&) {}  // see take_deliver()

ConsumerCore* IoLoop::find_consumer(std::uint64_t number) {
  for (const auto& consumer : parts_.consumers.snapshot()) {
    if (consumer->number() == number) return consumer.get();
  }
  return nullptr;
}

void IoLoop::take(const wire::Bye& bye) {
  const ErrorInfo* const info = find_error(bye.code);
  if (info != nullptr && !info->retry) {
    fail(make_error(info->code, bye.text));
    return;
  }
  lost_ = !bye.text.empty() ? bye.text : info != nullptr ? std::string(info->text) : "the broker said BYE";
}

// An error that belongs to no request: our picture of the session and the broker's differ. A new session mends that.
void IoLoop::take(wire::ErrorFrame& error) {
  if (error.request) {
    parts_.requests.reply({*error.request, std::nullopt, std::move(error.error)});
    return;
  }
  if (phase_ == Phase::greeting && !error.error.retry) {
    fail(make_error(error.error));
    return;
  }
  // A grant that crossed the end of its consumer (its queue was deleted): nothing is wrong with the session.
  if (error.error.code == static_cast<std::uint64_t>(ErrorCode::unknown_consumer)) return;
  lost_ = error.error.name + ": " + error.error.text;
}

void IoLoop::take(const wire::Welcome& welcome) {
  if (phase_ != Phase::greeting) return;
  if (welcome.protocol != wire::kProtocolVersion) {
    fail(make_error(ErrorCode::unsupported_protocol,
                    "the broker answered with protocol " + std::to_string(welcome.protocol)));
    return;
  }
  if (!parts_.publisher.accepts(welcome)) {
    // The broker has lost confirmed messages (it said how safe they are, in `sync`). Under the old identity it would see
    // a gap, and none of what is unconfirmed is known to it: so a new one cannot double anything.
    producer_ = random_bytes(producer_.size());
    lost_ = "the broker knows less of this producer than it confirmed";
    return;
  }
  const TimePoint now = Clock::now();
  phase_ = Phase::open;
  opened_at_ = now;
  const std::uint64_t heartbeat_ms = welcome.heartbeat_ms != 0 ? welcome.heartbeat_ms : 5'000;
  liveness_.start(now, std::chrono::milliseconds(heartbeat_ms));
  parts_.requests.limit_frame_bytes(welcome.frame_bytes_max);
  parts_.publisher.session_opened(welcome);
  if (std::exchange(had_session_, true)) tell_state(ConnectionState::connected, "");
  const std::lock_guard lock(mutex_);
  first_session_ = true;
  changed_.notify_all();
}

void IoLoop::take(const wire::Confirm& confirm) { parts_.publisher.confirm(confirm); }

void IoLoop::take(wire::Reply& reply) { parts_.requests.reply(std::move(reply)); }

void IoLoop::take(const wire::LeaseLost& lost) {
  if (ConsumerCore* const consumer = find_consumer(lost.consumer)) consumer->lease_lost(lost);
}

void IoLoop::take(const wire::ConsumerClosed& closed) {
  if (ConsumerCore* const consumer = find_consumer(closed.consumer)) consumer->end(make_error(closed.error));
}

void IoLoop::take(const wire::Settled& settled) {
  for (const wire::SettleException& exception : settled.exceptions) {
    for (const auto& consumer : parts_.consumers.snapshot()) {
      if (consumer->settle_exception(exception)) break;
    }
  }
}

}  // namespace sluice::internal
