#include "durability/recorder.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/mutant.h"
#include "durability/snapshot.h"

namespace sluice::durability {
namespace {

// A run ends here, so that compaction never has to take more of it at once.
constexpr std::size_t kRunBytesMax = 256 * 1024;
// So many numbers are reserved at once for messages that are not kept.
constexpr std::uint64_t kReserved = 65'536;

}  // namespace

void Recorder::bind(engine::Engine& engine) { engine_ = &engine; }

void Recorder::queue_created(engine::Queue& queue) {
  queues_.emplace(queue.number, &queue);
  queue.home = turn_;
  queue_changed(queue);
}

// Its home stays: the bindings stand behind the record that is there.
void Recorder::queue_changed(engine::Queue& queue) {
  end_run();
  queue.counted = queue.counters.sum();
  writer_.queue({queue.number, queue.name, queue.paused, queue.temporary, queue.policy.durable, to_record(queue.policy),
                 to_record(queue.counters)});
}

void Recorder::queue_deleted(const engine::Queue& queue) {
  end_run();
  queues_.erase(queue.number);
  writer_.queue_deleted(queue.number);
}

void Recorder::bound(const engine::Queue& queue, std::string_view pattern) {
  end_run();
  writer_.bound(queue.number, pattern);
}

void Recorder::unbound(const engine::Queue& queue, std::string_view pattern) {
  end_run();
  writer_.unbound(queue.number, pattern);
}

void Recorder::published(std::span<engine::Message* const> copies, const engine::Publication& publication,
                         const engine::Now& now) {
  kept_.clear();
  for (engine::Message* copy : copies) {
    if (!copy->in_journal) continue;
    copy->kept().key = copy->position;
    messages_.add(copy->position, *copy);
    loose_keys_.push_back(copy->position);
    kept_.push_back(copy);
  }
  // A key of a topic is remembered for the topic, which a run does not tell.
  const bool plain = publication.topic.empty() || publication.dedup_key.empty();
  if (kept_.empty()) {
    publish_unkept(*copies.front(), publication, now);
  } else if (kept_.size() == 1 && plain) {
    publish_in_run(*kept_.front(), publication, now);
  } else {
    publish_alone(kept_, publication, now);
  }
}

// The answer is kept nevertheless: a resend after a restart is no new message.
void Recorder::publish_unkept(const engine::Message& message, const engine::Publication& publication,
                              const engine::Now& now) {
  reserve_id(message.id);
  if (publication.producer != 0) accepted(publication.producer, publication.sequence, message.id);
  if (publication.dedup_key.empty()) return;
  if (publication.topic.empty()) {
    write_dedup_key(message.queue->number, publication.dedup_key, message.id, now.wall_ms);
  } else {
    const std::string key = std::string(publication.topic) + " " + std::string(publication.dedup_key);
    write_dedup_key(0, key, message.id, now.wall_ms);
  }
}

void Recorder::reserve_id(MessageId id) {
  if (raw(id) < reserved_id_) return;
  reserved_id_ = raw(id) + kReserved;
  write_marks();
}

void Recorder::reserve_lease(LeaseId lease) {
  if (raw(lease) < reserved_lease_) return;
  reserved_lease_ = raw(lease) + kReserved;
  write_marks();
}

bool Recorder::continues(const engine::Message& message, const engine::Publication& publication) const {
  if (run_ != Run::published || writer_.published_bytes() >= kRunBytesMax) return false;
  return published_.queue == message.queue->number && published_.next_key == message.kept().key &&
         published_.next_id == raw(message.id) && published_.published_ms == message.published_ms &&
         published_.producer == publication.producer &&
         (publication.producer == 0 || published_.next_sequence == publication.sequence);
}

void Recorder::publish_in_run(engine::Message& message, const engine::Publication& publication,
                              const engine::Now& now) {
  if (!continues(message, publication)) {
    end_run();
    run_ = Run::published;
    published_ = {message.queue->number, message.kept().key,   raw(message.id),
                  message.published_ms,  publication.producer, publication.sequence};
    writer_.begin_published(published_.queue, published_.next_key, published_.next_id, published_.published_ms,
                            published_.producer, published_.next_sequence);
  }
  const std::size_t offset = writer_.add_message(message.priority, due_ms(message, now), expires_ms(message, now),
                                                 publication.dedup_key, message.headers(), message.payload());
  placed_.push_back({message.kept().key, offset});
  ++published_.next_key;
  ++published_.next_id;
  ++published_.next_sequence;
}

void Recorder::publish_alone(std::span<engine::Message* const> copies, const engine::Publication& publication,
                             const engine::Now& now) {
  end_run();
  const engine::Message& first = *copies.front();
  record::Message message;
  message.id = raw(first.id);
  message.published_ms = first.published_ms;
  message.priority = first.priority;
  message.producer = publication.producer;
  message.sequence = publication.sequence;
  message.topic = publication.topic;
  message.dedup_key = publication.dedup_key;
  message.body.headers = first.headers();
  message.body.payload = first.payload();
  copies_.clear();
  for (const engine::Message* copy : copies) copies_.emplace_back(copy_of(*copy, now)).fresh = true;
  const std::size_t offset = writer_.message(message, copies_);
  for (const engine::Message* copy : copies) placed_.push_back({copy->kept().key, offset});
}

void Recorder::write_message(std::span<engine::Message* const> copies, std::string_view headers,
                             std::string_view payload, const engine::Now& now) {
  end_run();
  const engine::Message& first = *copies.front();
  record::Message message;
  message.id = raw(first.id);
  message.published_ms = first.published_ms;
  message.priority = first.priority;
  message.body.headers = headers;
  message.body.payload = payload;
  copies_.clear();
  for (const engine::Message* copy : copies) copies_.push_back(copy_of(*copy, now));
  const std::size_t offset = writer_.message(message, copies_);
  for (const engine::Message* copy : copies) placed_.push_back({copy->kept().key, offset});
}

void Recorder::delivered(const engine::Message& message, LeaseId lease) {
  if (!message.in_journal) return reserve_lease(lease);
  const std::uint64_t key = message.kept().key;
  if (run_ == Run::delivered && key == keys_.first_key + keys_.count && raw(lease) == keys_.first_lease + keys_.count) {
    ++keys_.count;
    return;
  }
  end_run();
  run_ = Run::delivered;
  keys_ = {key, 1, raw(lease), {}};
}

void Recorder::ended(const engine::Message& message, engine::Ended how) {
  if (!message.in_journal) return;
  const std::uint64_t key = message.kept().key;
  messages_.remove(key);
  if (mutant("ack_not_recorded") && how == engine::Ended::acked) return;
  if (run_ == Run::ended && how == keys_.how && key == keys_.first_key + keys_.count) {
    ++keys_.count;
    return;
  }
  end_run();
  run_ = Run::ended;
  keys_ = {key, 1, 0, how};
}

void Recorder::returned(const engine::Message& message, engine::Cause cause, const engine::Now& now) {
  if (!message.in_journal) return;
  end_run();
  record::Returned record;
  record.key = message.kept().key;
  record.cause = mutant("attempts_not_recorded") ? record::Cause::release : to_record(cause);
  record.suspect = message.suspect;
  record.due_ms = due_ms(message, now);
  if (cause == engine::Cause::nack || cause == engine::Cause::reject) record.error = message.extras->error;
  writer_.returned(record);
  loose_keys_.push_back(record.key);
}

void Recorder::dead_lettered(const engine::Message& message, engine::Cause cause) {
  if (!message.in_journal) return;
  end_run();
  if (mutant("dead_letter_in_two_records"))
    return writer_.ended(record::How::dropped, message.kept().key, 1);  // and the crash came before the other one
  const engine::Extras& past = *message.extras;
  record::DeadLettered record;
  record.key = message.kept().key;
  record.cause = to_record(cause);
  record.queue = message.queue->number;
  record.position = message.position;
  record.reason = to_record(past.reason);
  record.origin = past.origin;
  record.at_ms = past.dead_at_ms;
  if (cause == engine::Cause::nack || cause == engine::Cause::reject) record.error = past.error;
  writer_.dead_lettered(record);
  loose_keys_.push_back(record.key);
}

void Recorder::replayed(const engine::Message& message) {
  if (!message.in_journal) return;
  end_run();
  writer_.replayed(message.kept().key, message.queue->number, message.position);
}

void Recorder::producer_opened(std::uint64_t number, std::string_view) {
  write_producer(number, *engine_->parts().producers.find(number));
}

void Recorder::accepted(std::uint64_t producer, std::uint64_t sequence, MessageId id) {
  end_run();
  writer_.accepted(producer, {sequence, raw(id), 1});
}

void Recorder::refused(std::uint64_t producer, std::uint64_t sequence, const wire::ErrorBody& error) {
  end_run();
  writer_.refused(producer, {sequence, 1, error.code, error.text});
}

void Recorder::producer_forgotten(std::uint64_t number) {
  end_run();
  writer_.producer_gone(number);
}

void Recorder::write_marks() {
  end_run();
  const engine::Engine::Parts parts = engine_->parts();
  record::Marks marks;
  marks.next_id = std::max(parts.messages.next_id_number(), reserved_id_);
  marks.next_key = parts.messages.next_position();
  marks.next_lease = std::max(raw(parts.leases.next_id()), reserved_lease_);
  marks.next_queue = parts.queues.next_number();
  marks.next_producer = parts.producers.next_number();
  writer_.marks(marks);
  marks_home_ = turn_;
}

void Recorder::write_queue(engine::Queue& queue) {
  queue.home = turn_;
  queue_changed(queue);
  for (const std::string_view pattern : engine_->parts().topics.patterns(queue)) writer_.bound(queue.number, pattern);
}

void Recorder::write_producer(std::uint64_t number, engine::Producer& producer) {
  end_run();
  std::vector<record::AcceptedRange> accepted;
  for (const wire::Accepted& run : producer.accepted_runs())
    accepted.push_back({run.first_sequence, run.first_id, run.count});
  std::vector<record::RefusedRange> refused;
  for (const wire::Refused& run : producer.refused_runs())
    refused.push_back({run.first_sequence, run.count, run.error.code, run.error.text});
  writer_.producer(number, engine_->parts().producers.name(number), producer.last_decided(), accepted, refused);
  producer.home = turn_;
}

void Recorder::write_dedup_key(std::uint64_t queue, std::string_view key, MessageId id, std::uint64_t at_ms) {
  end_run();
  writer_.dedup_key(queue, key, raw(id), at_ms);
}

void Recorder::write_opened(const engine::Now& now) {
  end_run();
  writer_.opened(now.wall_ms);
}

void Recorder::write_closed(const engine::Now& now) {
  end_run();
  writer_.closed(now.wall_ms);
}

void Recorder::end_run() {
  switch (run_) {
    case Run::none:
      return;
    case Run::published:
      writer_.end_published();
      break;
    case Run::delivered:
      writer_.delivered(keys_.first_key, keys_.first_lease, keys_.count);
      break;
    case Run::ended:
      writer_.ended(to_record(keys_.how), keys_.first_key, keys_.count);
      break;
  }
  run_ = Run::none;
}

std::span<const std::byte> Recorder::finish_turn() {
  end_run();
  return writer_.bytes();
}

void Recorder::appended(const journal::Appended& place) {
  for (const Placed& placed : placed_)
    if (engine::Message* const message = messages_.find(placed.key))
      message->kept().location = raw(place.base + placed.offset);
  placed_.clear();
  loose_keys_.clear();
  writer_.clear();
  turn_ = Sequence{raw(place.sequence) + 1};
}

engine::Queue* Recorder::find_queue(std::uint64_t number) {
  const auto found = queues_.find(number);
  return found == queues_.end() ? nullptr : found->second;
}

}  // namespace sluice::durability
