#include "publisher.h"

#include <algorithm>
#include <utility>

#include "errors.h"

namespace sluice::internal {
namespace {

// More than a frame's head and one message's options take beside their texts and bytes: 41 and 74 at most.
constexpr std::size_t kFrameOverheadMax = 128;

// As the broker's window counts.
std::size_t size_of(const wire::PublishMessage& message) { return message.payload.size() + message.headers.size(); }

// No frame of this message alone is larger.
std::size_t frame_bytes_bound(PublishTarget target, const wire::PublishMessage& message) {
  return size_of(message) + message.dedup_key.size() + target.name.size() + kFrameOverheadMax;
}

}  // namespace

Publisher::Publisher(const ClientOptions& options, std::shared_ptr<Wake> wake, std::shared_ptr<Callbacks> callbacks)
    : options_(options),
      wake_(std::move(wake)),
      callbacks_(std::move(callbacks)),
      messages_max_(options.unconfirmed_messages_max),
      bytes_max_(options.unconfirmed_bytes_max),
      batch_messages_max_(options.batch_messages_max) {}

void Publisher::publish(PublishTarget target, const wire::PublishMessage& message, Completion completion) {
  const std::size_t bytes = size_of(message);
  Lock lock(mutex_);
  wait_for_room(lock, bytes);
  check_frame_size(target, message);
  if (!joins_open_batch(target, message)) {
    close_open_batch();
    open_name_ = target.name;
    open_kind_ = target.kind;
    open_.first_sequence = next_sequence_;
    writer_.begin(target.name, next_sequence_, target.kind);
  }
  writer_.append(message);
  if (completion.index() != 0) open_.waiting.push_back({open_.count, std::move(completion)});
  ++open_.count;
  ++next_sequence_;
  open_.bytes += bytes;
  ++unconfirmed_messages_;
  unconfirmed_bytes_ += bytes;
  if (open_.count >= batch_messages_max_ || open_.bytes >= options_.batch_bytes_max) close_open_batch();
  if (!closed_.empty() || frames_under_way_.load(std::memory_order_relaxed) < kPartialFramesMax) request_wake();
}

// A message larger than the limit goes alone.
void Publisher::wait_for_room(Lock& lock, std::size_t bytes) {
  const auto may_go_on = [&] {
    return failure_ || unconfirmed_messages_ == 0 ||
           (unconfirmed_messages_ < messages_max_ && unconfirmed_bytes_ + bytes <= bytes_max_);
  };
  if (!may_go_on()) {
    // The open batch is among what room is waited for.
    request_wake();
    ++waiting_for_room_;
    room_.wait(lock, may_go_on);
    --waiting_for_room_;
  }
  if (failure_) throw *failure_;
}

void Publisher::check_frame_size(PublishTarget target, const wire::PublishMessage& message) const {
  if (frame_bytes_max_ == 0 || frame_bytes_bound(target, message) <= frame_bytes_max_) return;
  // Near the limit only the frame itself tells.
  wire::PublishWriter alone;
  alone.begin(target.name, next_sequence_, target.kind);
  alone.append(message);
  const std::size_t bytes = alone.finish().size();
  if (bytes <= frame_bytes_max_) return;
  throw make_error(ErrorCode::frame_too_large, "the frame would have " + std::to_string(bytes) + " bytes, at most " +
                                                   std::to_string(frame_bytes_max_) + " are allowed");
}

bool Publisher::joins_open_batch(PublishTarget target, const wire::PublishMessage& message) const {
  if (open_.count == 0 || target.name != open_name_ || target.kind != open_kind_) return false;
  if (open_.bytes + size_of(message) > bytes_max_) return false;
  return frame_bytes_max_ == 0 || writer_.bytes() + frame_bytes_bound(target, message) <= frame_bytes_max_;
}

void Publisher::close_open_batch() {
  if (open_.count == 0) return;
  open_.undecided = open_.count;
  open_.frame = std::make_shared<const wire::Buffer>(writer_.finish());
  closed_.push_back(std::exchange(open_, Batch{}));
}

void Publisher::request_wake() {
  if (std::exchange(wake_requested_, true)) return;
  wake_->notify();
}

void Publisher::flush(std::optional<Milliseconds> timeout) {
  const TimePoint deadline = Clock::now() + timeout.value_or(Milliseconds(0));
  Lock lock(mutex_);
  const std::uint64_t last = next_sequence_ - 1;
  close_open_batch();
  request_wake();
  const auto done = [&] { return decided_below_ > last; };
  if (!timeout) {
    decided_.wait(lock, done);
  } else if (!decided_.wait_until(lock, deadline, done)) {
    throw make_local_error(kErrorTimeout, std::to_string(unconfirmed_messages_) +
                                              " publishes were not confirmed within " +
                                              std::to_string(timeout->count()) + " ms");
  }
  if (first_nowait_error_) {
    const ClientError error = *first_nowait_error_;
    first_nowait_error_.reset();
    throw error;
  }
}

void Publisher::stop(const ClientError& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
  close_open_batch();
  request_wake();
  room_.notify_all();
}

bool Publisher::wait_decided(TimePoint deadline) {
  Lock lock(mutex_);
  return decided_.wait_until(lock, deadline, [this] { return unconfirmed_messages_ == 0; });
}

std::uint64_t Publisher::unconfirmed() const {
  const std::lock_guard lock(mutex_);
  return unconfirmed_messages_;
}

bool Publisher::accepts(const wire::Welcome& welcome) const {
  const std::lock_guard lock(mutex_);
  return welcome.producer_sequence == 0 || welcome.producer_sequence + 1 >= decided_below_;
}

void Publisher::session_opened(const wire::Welcome& welcome) {
  window_messages_ = std::max<std::uint64_t>(welcome.publish_messages, 1);
  window_bytes_ = welcome.publish_bytes;
  connected_ = true;
  const std::lock_guard lock(mutex_);
  messages_max_ = std::min<std::uint64_t>(options_.unconfirmed_messages_max, window_messages_);
  bytes_max_ = std::min(options_.unconfirmed_bytes_max, window_bytes_);
  batch_messages_max_ = std::min<std::uint64_t>(options_.batch_messages_max, messages_max_);
  frame_bytes_max_ = welcome.frame_bytes_max;
  room_.notify_all();
}

void Publisher::session_lost() {
  connected_ = false;
  sent_ = 0;
  sent_messages_ = 0;
  sent_bytes_ = 0;
  frames_under_way_ = 0;
}

void Publisher::take_batches() {
  const std::lock_guard lock(mutex_);
  wake_requested_ = false;
  if (closed_.empty() && frames_under_way_ < kPartialFramesMax) close_open_batch();
  std::move(closed_.begin(), closed_.end(), std::back_inserter(batches_));
  closed_.clear();
}

std::shared_ptr<const wire::Buffer> Publisher::next_frame() {
  if (!connected_) return nullptr;
  if (sent_ == batches_.size()) take_batches();
  if (sent_ == batches_.size()) return nullptr;
  const Batch& next = batches_[sent_];
  const bool fits = sent_messages_ + next.undecided <= window_messages_ && sent_bytes_ + next.bytes <= window_bytes_;
  // One that never fits (from the time of a larger window) goes alone: the broker's answer is better than none.
  return fits || sent_messages_ == 0 ? next.frame : nullptr;
}

void Publisher::sent() {
  const Batch& batch = batches_[sent_++];
  if (batch.undecided == 0) return;  // out of turn, on an earlier connection: sent only to leave no gap
  sent_messages_ += batch.undecided;
  sent_bytes_ += batch.bytes;
  ++frames_under_way_;
}

// Not up_to: after a reconnect it may be ahead of what this session has told, and what became of a message is in the two lists alone.
void Publisher::confirm(const wire::Confirm& confirm) {
  Decided decided;
  for (const wire::Accepted& range : confirm.accepted) accept(range, decided);
  for (const wire::Refused& refused : confirm.refused) refuse(refused, decided);
  while (sent_ != 0 && batches_.front().undecided == 0) {
    batches_.pop_front();
    --sent_;
  }
  publish_decided(std::move(decided));
}

Publisher::Batch* Publisher::find_sent(std::uint64_t sequence) {
  const auto end = batches_.begin() + static_cast<std::ptrdiff_t>(sent_);
  const auto after = std::upper_bound(batches_.begin(), end, sequence, [](std::uint64_t value, const Batch& batch) {
    return value < batch.first_sequence;
  });
  if (after == batches_.begin()) return nullptr;
  Batch& batch = *std::prev(after);
  return sequence - batch.first_sequence < batch.count ? &batch : nullptr;
}

template <class Tell>
std::uint64_t Publisher::decide(Batch& batch, std::uint64_t index, std::uint64_t count, Tell tell) {
  if (batch.undecided == 0) return 0;
  std::uint64_t decided = count;
  const bool whole = count == batch.count && batch.decided.empty();
  std::vector<bool> before;
  if (!whole) {
    if (batch.decided.empty()) batch.decided.resize(batch.count);
    if (!batch.waiting.empty()) before = batch.decided;
    for (std::uint64_t i = index; i < index + count; ++i) {
      if (batch.decided[i]) --decided;  // told once more, after a reconnect
      batch.decided[i] = true;
    }
  }
  auto waiting = std::ranges::lower_bound(batch.waiting, index, {}, &Waiting::index);
  for (; waiting != batch.waiting.end() && waiting->index < index + count; ++waiting) {
    if (before.empty() || !before[waiting->index]) tell(std::move(waiting->completion), waiting->index);
  }
  batch.undecided -= decided;
  sent_messages_ -= decided;
  return decided;
}

// A range may cover several batches, and begin with what an earlier connection has told already. What was never sent is not ours.
template <class Tell>
std::uint64_t Publisher::decide_range(std::uint64_t first, std::uint64_t count, Decided& out, Tell tell) {
  std::uint64_t all = 0;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t sequence = first + done;
    Batch* const batch = find_sent(sequence);
    if (batch == nullptr) {
      const std::uint64_t front = batches_.empty() ? 0 : batches_.front().first_sequence;
      if (front <= sequence || front - first >= count) break;
      done = front - first;
      continue;
    }
    const std::uint64_t index = sequence - batch->first_sequence;
    const std::uint64_t part = std::min(count - done, batch->count - index);
    const std::uint64_t decided = decide(*batch, index, part, [&](Completion completion, std::uint64_t at) {
      tell(std::move(completion), done + (at - index));
    });
    all += decided;
    if (decided != 0 && batch->undecided == 0) {
      out.bytes += batch->bytes;
      sent_bytes_ -= batch->bytes;
      --frames_under_way_;
    }
    done += part;
  }
  return all;
}

void Publisher::accept(const wire::Accepted& range, Decided& out) {
  out.accepted +=
      decide_range(range.first_sequence, range.count, out, [&](Completion completion, std::uint64_t offset) {
        const Receipt receipt{range.first_id + offset};
        if (auto* const promise = std::get_if<std::promise<Receipt>>(&completion)) {
          promise->set_value(receipt);
        } else if (auto* const done = std::get_if<Client::PublishCallback>(&completion)) {
          out.callbacks.emplace_back([receipt, call = std::move(*done)] { call(&receipt, nullptr); });
        }
      });
}

void Publisher::refuse(const wire::Refused& range, Decided& out) {
  const ClientError error = make_error(range.error);
  std::uint64_t told = 0;
  const auto tell = [&](Completion completion, std::uint64_t) {
    ++told;
    fail(std::move(completion), error, out);
  };
  const std::uint64_t decided = decide_range(range.first_sequence, range.count, out, tell);
  if (told < decided && !out.nowait_error) out.nowait_error = error;
  out.refused += decided;
}

void Publisher::fail(Completion completion, const ClientError& error, Decided& out) {
  if (auto* const promise = std::get_if<std::promise<Receipt>>(&completion)) {
    promise->set_exception(std::make_exception_ptr(error));
  } else if (auto* const done = std::get_if<Client::PublishCallback>(&completion)) {
    out.callbacks.emplace_back([error, call = std::move(*done)] { call(nullptr, &error); });
  }
}

void Publisher::publish_decided(Decided decided) {
  confirmed_.fetch_add(decided.accepted, std::memory_order_relaxed);
  callbacks_->post(std::move(decided.callbacks));
  const std::lock_guard lock(mutex_);
  unconfirmed_messages_ -= decided.accepted + decided.refused;
  unconfirmed_bytes_ -= decided.bytes;
  if (decided.nowait_error && !first_nowait_error_) first_nowait_error_ = decided.nowait_error;
  decided_below_ = !batches_.empty()  ? batches_.front().first_sequence
                   : !closed_.empty() ? closed_.front().first_sequence
                                      : next_sequence_ - open_.count;
  if (waiting_for_room_ != 0) room_.notify_all();
  decided_.notify_all();
}

void Publisher::fail_all(const ClientError& error) {
  Decided decided;
  const auto fail_batch = [&](Batch& batch) {
    std::uint64_t told = 0;
    for (Waiting& waiting : batch.waiting) {
      if (!batch.decided.empty() && batch.decided[waiting.index]) continue;
      ++told;
      fail(std::move(waiting.completion), error, decided);
    }
    if (told < batch.undecided) decided.nowait_error = error;
  };
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = error;
    close_open_batch();
    std::move(closed_.begin(), closed_.end(), std::back_inserter(batches_));
    closed_.clear();
    for (Batch& batch : batches_) fail_batch(batch);
    batches_.clear();
    sent_ = 0;
    unconfirmed_messages_ = 0;
    unconfirmed_bytes_ = 0;
    decided_below_ = next_sequence_;
    if (decided.nowait_error && !first_nowait_error_) first_nowait_error_ = decided.nowait_error;
    room_.notify_all();
    decided_.notify_all();
  }
  callbacks_->post(std::move(decided.callbacks));
}

}  // namespace sluice::internal
