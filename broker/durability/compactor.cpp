#include "durability/compactor.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutant.h"
#include "durability/snapshot.h"

namespace sluice::durability {
namespace {

constexpr std::size_t kBytesATurn = 256 * 1024;
constexpr std::size_t kQueuesATurn = 1'024;
// What a full record holds beside the body, roughly.
constexpr std::uint64_t kMessageOverhead = 64;
constexpr std::uint64_t kQueueBytes = 256;

}  // namespace

std::uint64_t Compactor::live_bytes() const {
  const engine::Engine::Parts parts = engine_.parts();
  return parts.messages.bytes() + recorder_.messages().size() * kMessageOverhead + parts.queues.size() * kQueueBytes;
}

// What is written again on a full disk takes the room that is kept for acks: a quarter of it is left to them.
bool Compactor::short_of_room() const {
  return !journal_.has_room() && journal_.reserve_bytes() < recorder_.bytes() + journal_.oldest_part()->bytes / 4;
}

// A full disk is no place for what nobody needs. But the ends of segments are lost as well, and to write living things again there would only
// move them about, and take the room that acks need.
std::uint64_t Compactor::bytes_allowed(const journal::Part& oldest) const {
  const std::uint64_t live = live_bytes();
  const std::uint64_t usual = 2 * live + oldest.bytes;
  return journal_.has_room() ? usual : std::min(usual, live + live / 2 + 2 * oldest.bytes);
}

bool Compactor::worth_it() {
  const std::optional<journal::Part> part = journal_.oldest_part();
  if (!part || journal_.bytes() <= bytes_allowed(*part)) {
    pass_ = {};
    return false;
  }
  if (journal_.bytes() <= not_before_bytes_) return false;
  if (!pass_.until) pass_.until = journal_.last();
  return true;
}

void Compactor::ask() {
  journal_.fetch_batch(std::exchange(next_ticket_, next_ticket_ + 2));
  state_ = State::reading;
}

void Compactor::arrived(journal::Fetched&& fetched) {
  batch_ = std::move(fetched);
  reader_.emplace(batch_.bytes);
  next_.reset();
  state_ = State::writing;
}

bool Compactor::step(const engine::Now& now) {
  switch (state_) {
    case State::idle:
      if (worth_it()) {
        written_ = 0;
        ask();
      }
      return false;
    case State::reading:
      return false;
    case State::writing:
      if (!write_again(now)) return !waits_for_room_;
      if (!batch_.last_of_part) {
        ask();
        return false;
      }
      counted_up_to_.clear();
      state_ = State::counting;
      return true;
    case State::counting:
      if (!count_again()) return true;
      safe_at_.reset();
      state_ = State::syncing;
      return true;
    case State::syncing:
      return wait_until_safe();
  }
  return false;
}

// With the part go messages whose ends stand in later parts; there these ends will be skipped, and so not be counted. True: all
// queues are through.
bool Compactor::count_again() {
  const auto& queues = engine_.parts().queues.by_name();
  auto next = queues.upper_bound(counted_up_to_);
  for (std::size_t looked = 0; next != queues.end() && looked < kQueuesATurn; ++next, ++looked) {
    if (next->second->counters.sum() != next->second->counted) recorder_.queue_changed(*next->second);
    counted_up_to_ = next->first;
  }
  return next == queues.end();
}

// A turn later: what was written again is appended, and has its new place.
bool Compactor::wait_until_safe() {
  if (!safe_at_) {
    safe_at_ = journal_.last();
    reads_before_ = pager_.next_ticket();
  }
  if (journal_.durable() < *safe_at_ || pager_.oldest_ticket() < reads_before_) return false;
  finish_part();
  return true;
}

void Compactor::finish_part() {
  const journal::Part part = *journal_.oldest_part();
  journal_.release_oldest_part();
  ++parts_released_;
  pass_.read_bytes += part.bytes;
  pass_.written_bytes += written_;
  if (part.last >= *pass_.until) end_pass();
  state_ = State::idle;
}

// A part can be all alive, and the ones behind it all dead; so what a pass gained is known at its end. When nearly all of it lives, there is
// more of it than live_bytes() knows: to go on would only move it about.
void Compactor::end_pass() {
  const bool gained = pass_.written_bytes < pass_.read_bytes - pass_.read_bytes / 4;
  not_before_bytes_ = gained ? 0 : journal_.bytes() + journal_.bytes() / 4;
  pass_ = {};
}

bool Compactor::write_again(const engine::Now& now) {
  const std::size_t end = reader_->offset() + kBytesATurn;
  const std::size_t before = recorder_.bytes();
  bool done = false;
  waits_for_room_ = false;
  while (!done && reader_->offset() < end) {
    if (!next_) next_ = reader_->next();
    done = !next_;
    if (done) break;
    waits_for_room_ = short_of_room() && holds_living(*next_);
    if (waits_for_room_) break;
    keep(*next_, now);
    next_.reset();
  }
  SLUICE_CHECK(!reader_->error());  // it was read once, and its checksum is right
  written_ += recorder_.bytes() - before;
  return done;
}

// A message that would be written again.
bool Compactor::holds_living(const record::Record& record) {
  const auto lives = [this](std::uint64_t key, const record::Body& body) {
    const engine::Message* const message = recorder_.messages().find(key);
    return message != nullptr && message->kept().location == raw(batch_.base + body.offset);
  };
  if (const auto* published = std::get_if<record::Published>(&record)) {
    std::uint64_t key = published->first_key;
    for (const record::PublishedMessage& message : published->messages)
      if (lives(key++, message.body)) return true;
  } else if (const auto* message = std::get_if<record::Message>(&record)) {
    for (const record::Copy& copy : message->copies)
      if (lives(copy.key, message->body)) return true;
  }
  return false;
}

void Compactor::keep(const record::Record& record, const engine::Now& now) {
  const engine::Engine::Parts parts = engine_.parts();
  if (const auto* published = std::get_if<record::Published>(&record)) {
    std::uint64_t next = 0;
    for (const record::PublishedMessage& message : published->messages) {
      keep_one(message.body, published->first_key + next, now);
      keep_key(published->queue, message.dedup_key, published->first_id + next, published->published_ms, now);
      ++next;
    }
  } else if (const auto* message = std::get_if<record::Message>(&record)) {
    keep_copies(*message, now);
    if (!message->dedup_key.empty())
      keep_key(0, std::string(message->topic) + " " + std::string(message->dedup_key), message->id,
               message->published_ms, now);
  } else if (const auto* key = std::get_if<record::DedupKey>(&record)) {
    keep_key(key->queue, key->key, key->id, key->at_ms, now);
  } else if (const auto* queue = std::get_if<record::Queue>(&record)) {
    engine::Queue* const known = recorder_.find_queue(queue->queue);
    if (known != nullptr && is_home(known->home)) recorder_.write_queue(*known);
  } else if (const auto* producer = std::get_if<record::Producer>(&record)) {
    engine::Producer* const known = parts.producers.find(producer->producer);
    if (known != nullptr && is_home(known->home)) recorder_.write_producer(producer->producer, *known);
  } else if (std::holds_alternative<record::Marks>(record)) {
    if (is_home(recorder_.marks_home())) recorder_.write_marks();
  }
}

void Compactor::keep_one(const record::Body& body, std::uint64_t key, const engine::Now& now) {
  engine::Message* const message = recorder_.messages().find(key);
  if (message == nullptr || message->kept().location != raw(batch_.base + body.offset)) return;
  if (mutant("compaction_drops_live")) return;
  recorder_.write_message({&message, 1}, body.headers, body.payload, now);
}

void Compactor::keep_copies(const record::Message& full, const engine::Now& now) {
  std::vector<engine::Message*> living;
  for (const record::Copy& copy : full.copies) {
    engine::Message* const message = recorder_.messages().find(copy.key);
    if (message != nullptr && message->kept().location == raw(batch_.base + full.body.offset))
      living.push_back(message);
  }
  if (!living.empty()) recorder_.write_message(living, full.body.headers, full.body.payload, now);
}

// One that is remembered; whether its time is over is looked at when somebody asks for it.
void Compactor::keep_key(std::uint64_t number, std::string_view key, std::uint64_t id, std::uint64_t at_ms,
                         const engine::Now&) {
  if (key.empty()) return;
  engine::DedupKeys* keys = nullptr;
  if (number == 0) {
    keys = &engine_.parts().topic_keys;
  } else if (engine::Queue* const queue = recorder_.find_queue(number)) {
    keys = queue->keys.get();
  }
  const engine::DedupKeys::Entry* const entry = keys == nullptr ? nullptr : keys->look(key);
  if (entry != nullptr && raw(entry->id) == id) recorder_.write_dedup_key(number, key, MessageId{id}, at_ms);
}

}  // namespace sluice::durability
