#include "durability/restorer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/mutant.h"
#include "durability/snapshot.h"
#include "engine/dead_letters.h"
#include "engine/queue_name.h"

namespace sluice::durability {
namespace {

// More handed-out keys than this: those that are not leased any more are thrown out.
constexpr std::size_t kLeasedSweep = 4'000'000;

std::uint32_t to_u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

void raise(std::uint64_t& next, std::uint64_t used, std::uint64_t count = 1) { next = std::max(next, used + count); }

// As it was answered, but for the hint when to try again. One that this version does not know keeps its number.
wire::ErrorBody error_of(const record::RefusedRange& range) {
  wire::ErrorBody error;
  error.code = range.error;
  error.text = range.text;
  if (const ErrorInfo* const info = find_error(range.error)) {
    error.name = info->name;
    error.retry = info->retry;
  }
  return error;
}

// While records are read, times stand as they are written: wall time in when_ms.
void set_expiry(engine::Message& message, std::uint64_t expires_ms) {
  if (expires_ms == 0) return;
  message.extra().expiry.set = true;
  message.extra().expiry.when_ms = expires_ms;
}

void set_due(engine::Message& message, std::uint64_t due_ms) {
  message.state = due_ms == 0 ? engine::MessageState::ready : engine::MessageState::delayed;
  message.when_ms = due_ms;
}

void set_past(engine::Message& message, const record::Copy& copy) {
  const record::Counts& counts = copy.counts;
  message.deliveries = to_u32(counts.deliveries);
  const bool plain = counts.nacks + counts.expiries + counts.disconnects + counts.releases + counts.restarts == 0 &&
                     copy.error.empty() && !copy.death;
  if (plain) return;
  engine::Extras& past = message.extra();
  past.nacks = to_u32(counts.nacks);
  past.expiries = to_u32(counts.expiries);
  past.disconnects = to_u32(counts.disconnects);
  past.releases = to_u32(counts.releases);
  past.restarts = to_u32(counts.restarts);
  past.error = copy.error;
  if (!copy.death) return;
  past.reason = from_record(copy.death->reason);
  past.origin = copy.death->origin;
  past.dead_at_ms = copy.death->at_ms;
  past.dead_deliveries = to_u32(copy.death->counts.deliveries);
  past.dead_nacks = to_u32(copy.death->counts.nacks);
  past.dead_expiries = to_u32(copy.death->counts.expiries);
  past.dead_disconnects = to_u32(copy.death->counts.disconnects);
  past.dead_releases = to_u32(copy.death->counts.releases);
  past.dead_restarts = to_u32(copy.death->counts.restarts);
}

}  // namespace

Restorer::~Restorer() {
  messages_.for_each([](engine::Message& message) { engine::Message::free(&message); });
}

std::optional<std::string> Restorer::apply(std::span<const std::byte> records, journal::Location base, Sequence first) {
  base_ = base;
  home_ = first;
  record::RecordReader reader(records);
  while (const std::optional<record::Record> record = reader.next())
    std::visit([this](const auto& value) { read(value); }, *record);
  if (reader.error())
    return "the record at byte " + std::to_string(reader.error()->offset) + " of the batch of turn " +
           std::to_string(raw(first)) + ": " + reader.error()->text;
  return std::nullopt;
}

void Restorer::read(const record::Marks& marks) {
  raise(next_.next_id, marks.next_id, 0);
  raise(next_.next_key, marks.next_key, 0);
  raise(next_.next_lease, marks.next_lease, 0);
  raise(next_.next_queue, marks.next_queue, 0);
  raise(next_.next_producer, marks.next_producer, 0);
  marks_home_ = home_;
}

Restorer::ReadQueue& Restorer::queue_of(std::uint64_t number) {
  if (number == recent_queue_number_ && recent_queue_ != nullptr) return *recent_queue_;
  ReadQueue& read = queues_[number];
  if (read.queue == nullptr) {
    read.queue = std::make_unique<engine::Queue>();
    read.queue->number = number;
    raise(next_.next_queue, number);
  }
  recent_queue_number_ = number;
  recent_queue_ = &read;
  return read;
}

void Restorer::read(const record::Queue& full) {
  ReadQueue& read = queue_of(full.queue);
  engine::Queue& queue = *read.queue;
  read.known = true;
  queue.name = full.name;
  queue.dead_letters = engine::is_dead_letter_name(full.name);
  queue.paused = full.paused;
  queue.temporary = full.temporary;
  queue.policy = from_record(full.policy);
  queue.policy.durable = full.durable;
  queue.counters = from_record(full.counters);
  queue.counted = queue.counters.sum();
  // The first one that is read: bindings may stand between it and those that follow.
  if (raw(queue.home) == 0) queue.home = home_;
}

void Restorer::read(const record::QueueDeleted& deleted) {
  const auto found = queues_.find(deleted.queue);
  if (found == queues_.end()) return;
  recent_queue_ = nullptr;
  queues_.erase(found);
  std::erase_if(keys_, [&](const Key& key) { return key.queue == deleted.queue; });
}

void Restorer::read(const record::Bound& bound) { queue_of(bound.queue).patterns.emplace(bound.pattern); }

void Restorer::read(const record::Unbound& unbound) {
  ReadQueue& read = queue_of(unbound.queue);
  if (const auto found = read.patterns.find(unbound.pattern); found != read.patterns.end()) read.patterns.erase(found);
}

// `shared`: the body, if it is in memory and another message has it already.
engine::Message& Restorer::make(const record::Body& body, engine::Body*& shared) {
  const std::uint64_t bytes = body.headers.size() + body.payload.size();
  if (shared == nullptr && bodies_bytes_ + bytes <= memory_bytes_) {
    shared = engine::Body::make(body.payload, body.headers);
    bodies_bytes_ += bytes;
  }
  engine::Message* const message =
      shared != nullptr
          ? engine::Message::make_kept(*shared)
          : engine::Message::make_kept(to_u32(body.payload.size()), static_cast<std::uint16_t>(body.headers.size()));
  message->kept().location = raw(base_ + body.offset);
  if (shared == nullptr) message->kept().checksum = checksum(body.headers, body.payload);
  return *message;
}

void Restorer::read(const record::Published& published) {
  engine::Queue& queue = *queue_of(published.queue).queue;
  std::uint64_t next = 0;
  for (const record::PublishedMessage& one : published.messages) {
    engine::Body* body = nullptr;
    engine::Message& message = make(one.body, body);
    const std::uint64_t key = published.first_key + next;
    message.id = MessageId{published.first_id + next};
    message.kept().key = message.position = key;
    message.published_ms = published.published_ms;
    message.priority = one.priority;
    message.queue = &queue;
    set_due(message, one.due_ms);
    set_expiry(message, one.expires_ms);
    if (engine::Message* const old = messages_.find(key)) forget(*old);
    messages_.add(key, message);
    if (!one.dedup_key.empty())
      keys_.push_back({published.queue, raw(message.id), published.published_ms, std::string(one.dedup_key)});
    ++next;
  }
  queue.counters.enqueued += next;
  raise(next_.next_key, published.first_key, next);
  raise(next_.next_id, published.first_id, next);
  remember_accepted(published.producer, published.first_sequence, published.first_id, next);
}

void Restorer::read(const record::Message& full) {
  engine::Body* body = nullptr;
  for (const record::Copy& copy : full.copies) {
    engine::Message& message = make(full.body, body);
    engine::Queue& queue = *queue_of(copy.queue).queue;
    message.id = MessageId{full.id};
    message.published_ms = full.published_ms;
    message.priority = full.priority;
    message.queue = &queue;
    message.kept().key = copy.key;
    message.position = copy.position;
    message.suspect = copy.suspect;
    set_past(message, copy);
    set_due(message, copy.due_ms);
    set_expiry(message, copy.expires_ms);
    if (copy.state == record::State::leased) {
      message.state = engine::MessageState::leased;
      leased_.push_back(copy.key);
    }
    if (engine::Message* const old = messages_.find(copy.key)) forget(*old);
    messages_.add(copy.key, message);
    if (copy.fresh) ++queue.counters.enqueued;
    raise(next_.next_key, copy.key);
    raise(next_.next_key, copy.position);
  }
  raise(next_.next_id, full.id);
  if (!full.dedup_key.empty())
    keys_.push_back({0, full.id, full.published_ms, std::string(full.topic) + " " + std::string(full.dedup_key)});
  remember_accepted(full.producer, full.sequence, full.id, 1);
}

void Restorer::read(const record::Delivered& delivered) {
  for (std::uint64_t i = 0; i < delivered.count; ++i) {
    engine::Message* const message = messages_.find(delivered.first_key + i);
    if (message == nullptr) continue;
    ++message->deliveries;
    ++message->queue->counters.delivered;
    message->state = engine::MessageState::leased;
    leased_.push_back(delivered.first_key + i);
  }
  raise(next_.next_lease, delivered.first_lease, delivered.count);
  if (leased_.size() > kLeasedSweep) {
    std::erase_if(leased_, [this](std::uint64_t key) {
      const engine::Message* const message = messages_.find(key);
      return message == nullptr || message->state != engine::MessageState::leased;
    });
  }
}

void Restorer::forget(engine::Message& message) {
  if (message.has_body()) bodies_bytes_ -= std::min(bodies_bytes_, message.size());
  messages_.remove(message.kept().key);
  engine::Message::free(&message);
}

void Restorer::read(const record::Ended& ended) {
  for (std::uint64_t i = 0; i < ended.count; ++i) {
    engine::Message* const message = messages_.find(ended.first_key + i);
    if (message == nullptr) continue;
    engine::Counters& counters = message->queue->counters;
    switch (ended.how) {
      case record::How::acked:
        ++counters.acked;
        break;
      case record::How::purged:
        ++counters.purged;
        break;
      case record::How::dropped:
        ++counters.dropped;
        break;
      case record::How::expired:
        ++counters.expired;
        break;
    }
    forget(*message);
  }
}

// An attempt ended, in the counters of message and queue.
void Restorer::count(engine::Message& message, record::Cause cause) {
  engine::Counters& counters = message.queue->counters;
  switch (cause) {
    case record::Cause::none:
      return;
    case record::Cause::nack:
      ++message.extra().nacks;
      ++counters.nacked;
      return;
    case record::Cause::lease_ran_out:
      ++message.extra().expiries;
      ++counters.expired_leases;
      return;
    case record::Cause::holder_gone:
      ++message.extra().disconnects;
      ++counters.returned_by_disconnect;
      return;
    case record::Cause::release:
      ++message.extra().releases;
      ++counters.released;
      return;
    case record::Cause::reject:
      ++counters.rejected;
      return;
  }
}

void Restorer::read(const record::Returned& returned) {
  engine::Message* const message = messages_.find(returned.key);
  if (message == nullptr) return;
  count(*message, returned.cause);
  if (returned.cause == record::Cause::reject) ++message->extra().nacks;  // only inside a queue of dead letters
  if (returned.cause == record::Cause::nack || returned.cause == record::Cause::reject)
    message->extra().error = returned.error;
  message->suspect = returned.suspect;
  set_due(*message, returned.due_ms);
}

void Restorer::read(const record::DeadLettered& dead) {
  engine::Message* const message = messages_.find(dead.key);
  raise(next_.next_key, dead.position);
  if (message == nullptr) return;
  count(*message, dead.cause);
  ++message->queue->counters.dead_lettered;
  engine::end_life(*message);
  engine::Extras& past = message->extra();
  if (dead.cause == record::Cause::nack || dead.cause == record::Cause::reject) past.error = dead.error;
  past.reason = from_record(dead.reason);
  past.origin = dead.origin;
  past.dead_at_ms = dead.at_ms;
  past.expiry.set = false;
  message->queue = queue_of(dead.queue).queue.get();
  ++message->queue->counters.enqueued;
  message->position = dead.position;
  message->suspect = false;
  set_due(*message, 0);
}

void Restorer::read(const record::Replayed& replayed) {
  engine::Message* const message = messages_.find(replayed.key);
  raise(next_.next_key, replayed.position);
  if (message == nullptr) return;
  ++message->queue->counters.replayed_out;
  engine::begin_life(*message);
  message->queue = queue_of(replayed.queue).queue.get();
  ++message->queue->counters.enqueued;
  message->position = replayed.position;
  message->suspect = false;
  set_due(*message, 0);
}

void Restorer::read(const record::Producer& full) {
  Producer& producer = producers_[full.producer];
  producer.name = full.name;
  producer.last_sequence = full.last_sequence;
  producer.home = home_;
  producer.accepted.clear();
  producer.refused.clear();
  for (const record::AcceptedRange& run : full.accepted)
    producer.accepted.push_back({run.first_sequence, run.first_id, run.count});
  for (const record::RefusedRange& run : full.refused) {
    producer.refused.push_back({run.first_sequence, run.count, error_of(run)});
  }
  raise(next_.next_producer, full.producer);
}

void Restorer::remember_accepted(std::uint64_t number, std::uint64_t sequence, std::uint64_t id, std::uint64_t count) {
  if (number == 0) return;
  Producer& producer = producers_[number];
  raise(next_.next_producer, number);
  producer.last_sequence = std::max(producer.last_sequence, sequence + (count - 1));
  if (!producer.accepted.empty()) {
    wire::Accepted& last = producer.accepted.back();
    if (sequence == last.first_sequence + last.count && id == last.first_id + last.count) {
      last.count += count;
      return;
    }
  }
  producer.accepted.push_back({sequence, id, count});
  producer.forget_old();
}

// What nobody can ask for any more.
void Restorer::Producer::forget_old() {
  const auto too_old = [this](const auto& run) {
    return last_sequence - (run.first_sequence + (run.count - 1)) > engine::kRememberedMax;
  };
  while (!accepted.empty() && too_old(accepted.front())) accepted.pop_front();
  while (!refused.empty() && too_old(refused.front())) refused.pop_front();
}

void Restorer::read(const record::Accepted& accepted) {
  remember_accepted(accepted.producer, accepted.range.first_sequence, accepted.range.first_id, accepted.range.count);
}

void Restorer::read(const record::Refused& refused) {
  Producer& producer = producers_[refused.producer];
  raise(next_.next_producer, refused.producer);
  const record::RefusedRange& range = refused.range;
  producer.last_sequence = std::max(producer.last_sequence, range.first_sequence + (range.count - 1));
  const wire::ErrorBody error = error_of(range);
  for (std::uint64_t i = 0; i < range.count; ++i)
    engine::add_refused(producer.refused, range.first_sequence + i, error);
  producer.forget_old();
}

void Restorer::read(const record::ProducerGone& gone) { producers_.erase(gone.producer); }

void Restorer::read(const record::DedupKey& key) {
  keys_.push_back({key.queue, key.id, key.at_ms, std::string(key.key)});
}

void Restorer::read(const record::Opened&) {
  end_leases();
  drop_temporary_queues();
}

void Restorer::read(const record::Closed&) {}

// Free of charge: it was the broker that went.
void Restorer::end_leases() {
  returned_ = 0;
  for (const std::uint64_t key : std::exchange(leased_, {})) {
    engine::Message* const message = messages_.find(key);
    if (message == nullptr || message->state != engine::MessageState::leased) continue;
    ++message->extra().restarts;
    set_due(*message, 0);
    ++returned_;
  }
}

void Restorer::drop_temporary_queues() {
  const bool none = std::ranges::none_of(queues_, [](const auto& read) { return read.second.queue->temporary; });
  if (none) return;
  std::vector<engine::Message*> gone;
  messages_.for_each([&](engine::Message& message) {
    if (message.queue->temporary) gone.push_back(&message);
  });
  for (engine::Message* message : gone) forget(*message);
  recent_queue_ = nullptr;
  std::erase_if(queues_, [](const auto& read) { return read.second.queue->temporary; });
}

tl::expected<Restored, std::string> Restorer::finish(engine::Engine& engine, Recorder& recorder,
                                                     const engine::Now& now) {
  end_leases();
  drop_temporary_queues();
  engine::Engine::Parts parts = engine.parts();
  Restored restored;
  restored.messages = messages_.size();
  restored.returned = returned_;
  parts.messages.begin_at(next_.next_id, next_.next_key);
  parts.leases.begin_at(mutant("lease_ids_restart") ? 1 : next_.next_lease);
  parts.queues.begin_at(next_.next_queue);
  parts.producers.begin_at(next_.next_producer);
  if (auto error = hand_over_queues(parts, recorder)) return tl::unexpected(*std::move(error));
  restored.queues = parts.queues.size();
  hand_over_messages(parts, recorder, now);
  hand_over_producers(parts);
  hand_over_keys(parts, now);
  recorder.set_marks_home(marks_home_);
  return restored;
}

std::optional<std::string> Restorer::hand_over_queues(engine::Engine::Parts& parts, Recorder& recorder) {
  recent_queue_ = nullptr;
  messages_.for_each([this](engine::Message& message) {
    if (recent_queue_ == nullptr || recent_queue_->queue.get() != message.queue) {
      const auto found = queues_.find(message.queue->number);
      SLUICE_CHECK(found != queues_.end());  // its messages end before a queue is deleted
      recent_queue_ = &found->second;
    }
    ++recent_queue_->queue->on_disk_only;  // for the moment: that it is not empty
    if (message.position != message.kept().key) moved_.push_back(&message);
  });
  recent_queue_ = nullptr;
  for (auto& [number, read] : queues_) {
    const std::uint64_t count = std::exchange(read.queue->on_disk_only, 0);
    const bool empty = count == 0;
    if (!read.known && !empty)
      return "messages of queue number " + std::to_string(number) + ", which no record describes";
    if (!read.known) continue;
    engine::Queue& queue = *read.queue;
    // Those that were not durable went with the broker.
    queue.counters.dropped += queue.counters.expected_in_queue() - count;
    if (parts.queues.find(queue.name) != nullptr) return "two queues have the name " + queue.name;
    parts.queues.restore(std::move(read.queue));
    recorder.add_queue(queue);
    for (const std::string& pattern : read.patterns) parts.topics.add(queue, pattern);
  }
  return std::nullopt;
}

// In order of position, as keys rise, but for those that moved.
void Restorer::hand_over_messages(engine::Engine::Parts& parts, Recorder& recorder, const engine::Now& now) {
  std::sort(moved_.begin(), moved_.end(),
            [](const engine::Message* a, const engine::Message* b) { return a->position < b->position; });
  auto moved = moved_.begin();
  messages_.for_each([&](engine::Message& message) {
    if (message.position != message.kept().key) return;
    for (; moved != moved_.end() && (*moved)->position < message.position; ++moved) hand_over(**moved, parts, now);
    hand_over(message, parts, now);
  });
  for (; moved != moved_.end(); ++moved) hand_over(**moved, parts, now);
  recorder.messages() = std::exchange(messages_, MessageTable());
}

void Restorer::hand_over(engine::Message& message, engine::Engine::Parts& parts, const engine::Now& now) {
  std::optional<std::uint64_t> due;
  if (message.state == engine::MessageState::delayed && message.when_ms > now.wall_ms)
    due = steady_ms(message.when_ms, now);
  std::optional<std::uint64_t> expires;
  if (message.extras != nullptr && message.extras->expiry.set) expires = steady_ms(message.extras->expiry.when_ms, now);
  parts.messages.restore(*message.queue, message, due, expires);
}

void Restorer::hand_over_producers(engine::Engine::Parts& parts) {
  for (auto& [number, read] : producers_) {
    if (read.name.empty()) continue;  // changes to one that was forgotten
    engine::Producer& producer = parts.producers.restore(number, read.name);
    producer.restore(read.last_sequence, std::move(read.accepted), std::move(read.refused));
    producer.home = read.home;
  }
}

void Restorer::hand_over_keys(engine::Engine::Parts& parts, const engine::Now& now) {
  if (mutant("dedup_not_restored")) return;
  std::stable_sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) { return a.at_ms < b.at_ms; });
  absl::flat_hash_map<std::uint64_t, engine::Queue*> by_number;
  for (const auto& [name, queue] : parts.queues.by_name()) by_number.emplace(queue->number, queue.get());
  for (const Key& key : keys_) {
    const std::uint64_t age_ms = now.wall_ms > key.at_ms ? now.wall_ms - key.at_ms : 0;
    const std::uint64_t at_ms = now.steady_ms > age_ms ? now.steady_ms - age_ms : 0;
    const engine::DedupKeys::Entry entry{MessageId{key.id}, at_ms};
    if (key.queue == 0) {
      parts.topic_keys.restore(key.key, entry);
      continue;
    }
    const auto found = by_number.find(key.queue);
    if (found == by_number.end()) continue;
    engine::Queue& queue = *found->second;
    if (queue.keys == nullptr) queue.keys = std::make_unique<engine::DedupKeys>();
    queue.keys->restore(key.key, entry);
  }
}

}  // namespace sluice::durability
