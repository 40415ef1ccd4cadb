// The model's publishes: spec/protocol.md section 7; spec/semantics.md "Idempotence", "Deduplication by key", "Overflow", "Topics".
#include <algorithm>

#include "model.h"

namespace sluice::model {
namespace {

constexpr std::uint64_t kTopicWindowMs = 120'000;

}  // namespace

void Model::publish(std::uint64_t session, const wire::Publish& frame) {
  const Producer& mine = producer(session);
  if (mine.known && frame.first_sequence > mine.last + 1) {
    hit(Corner::sequence_gap);
    for (std::size_t i = 0; i < frame.messages.size(); ++i)
      sessions_[session].answers.push_back(
          {frame.first_sequence + i, {0, static_cast<std::uint64_t>(ErrorCode::sequence_gap)}});
    return;
  }
  for (std::size_t i = 0; i < frame.messages.size(); ++i) {
    const wire::PublishMessage& message = frame.messages[i];
    Publishing publishing{std::string(frame.queue),
                          frame.kind == wire::PublishKind::topic,
                          std::string(message.payload),
                          std::string(message.headers),
                          message.delay_ms,
                          message.priority,
                          message.ttl_ms,
                          std::string(message.dedup_key)};
    publish_one(session, frame.first_sequence + i, publishing);
  }
}

void Model::refuse_publish(std::uint64_t session, std::uint64_t first_sequence, std::uint64_t count,
                           std::uint64_t code) {
  hit(Corner::frame_refused);
  for (std::uint64_t i = 0; i < count; ++i) answer(session, first_sequence + i, {0, code});
}

void Model::publish_one(std::uint64_t session, std::uint64_t sequence, const Publishing& publishing) {
  Session& mine = sessions_[session];
  const Producer& sender = producer(session);
  const auto known = sender.answers.find(sequence);
  if (known != sender.answers.end()) {  // sent again: one answer, however often
    hit(known->second.code == 0 ? Corner::resent_accepted : Corner::resent_refused);
    if (known->second.code == 0 && !publishing.topic && find(publishing.target) != nullptr)
      ++find(publishing.target)->counters["deduplicated"];
    mine.answers.emplace_back(sequence, known->second);
    return;
  }
  for (auto& [name, queue] : queues_) {
    for (Waiting& waiting : queue.waiting) {
      if (sessions_[waiting.session].producer != mine.producer || waiting.sequence != sequence) continue;
      if (waiting.session == session) return;
      hit(Corner::blocked_handed_over);  // the answer goes to the session that sent it last
      --sessions_[waiting.session].unconfirmed_messages;
      ++mine.unconfirmed_messages;
      waiting.session = session;
      return;
    }
  }
  if (mine.unconfirmed_messages >= options_.window_messages) {
    hit(Corner::window_refused);
    return refuse(session, sequence, ErrorCode::publish_window);
  }
  ++mine.unconfirmed_messages;
  std::uint64_t code = 0;
  const std::vector<std::string> targets = find_queues(publishing, code);
  if (code != 0) return refuse(session, sequence, static_cast<ErrorCode>(code));
  const std::optional<std::string> full = decide(session, sequence, publishing, targets, std::nullopt);
  if (!full) return;
  hit(publishing.topic ? Corner::topic_waits : Corner::blocked);
  Queue& queue = queues_.at(*full);
  wait(queue,
       {next_order_++, session, sequence, publishing, now_.moment_ms() + queue.rules.block_timeout_ms, next_set_++});
  Producer& writer = producers_.at(mine.producer);
  writer.known = true;
  if (writer.missing.erase(sequence) > 0) hit(Corner::missing_sent_again);
  writer.last = std::max(writer.last, sequence);
}

std::vector<std::string> Model::find_queues(const Publishing& publishing, std::uint64_t& code) {
  if (!publishing.topic) {
    ErrorCode error{};
    if (find_or_create(publishing.target, error) != nullptr) return {publishing.target};
    code = static_cast<std::uint64_t>(error);
    return {};
  }
  if (!is_topic(publishing.target)) {
    code = static_cast<std::uint64_t>(ErrorCode::bad_topic);
    return {};
  }
  std::vector<std::string> found;
  for (const auto& [name, queue] : queues_)
    if (std::any_of(queue.patterns.begin(), queue.patterns.end(),
                    [&](const std::string& pattern) { return pattern_matches(pattern, publishing.target); }))
      found.push_back(name);
  if (found.empty()) {
    hit(Corner::topic_no_route);
    code = static_cast<std::uint64_t>(ErrorCode::no_route);
  }
  return found;
}

std::vector<Key>* Model::keys_of(const Publishing& publishing, std::uint64_t& window_ms) {
  if (publishing.key.empty()) return nullptr;
  if (publishing.topic) {
    window_ms = kTopicWindowMs;
    return &topic_keys_;
  }
  Queue& queue = queues_.at(publishing.target);
  window_ms = queue.rules.dedup_window_ms;
  return window_ms == 0 ? nullptr : &queue.keys;
}

std::optional<std::string> Model::decide(std::uint64_t session, std::uint64_t sequence, const Publishing& publishing,
                                         const std::vector<std::string>& targets,
                                         std::optional<std::uint64_t> turn_of) {
  std::uint64_t window_ms = 0;
  std::vector<Key>* const keys = keys_of(publishing, window_ms);
  const std::string key = publishing.topic ? publishing.target + " " + publishing.key : publishing.key;
  if (keys != nullptr) {
    const std::size_t before = keys->size();
    std::erase_if(*keys, [&](const Key& old) { return now_.steady_ms >= old.at_ms + window_ms; });
    if (keys->size() != before) hit(publishing.topic ? Corner::topic_dedup_window_over : Corner::dedup_window_over);
    for (const Key& old : *keys) {
      if (old.key != key) continue;
      hit(publishing.topic ? Corner::topic_dedup_hit : Corner::dedup_hit);
      if (turn_of) hit(Corner::blocked_deduplicated);
      const auto& there = queues_.at(targets.front()).messages;
      if (std::none_of(there.begin(), there.end(), [&](const Message& message) { return message.id == old.id; }))
        hit(Corner::dedup_hit_of_gone);
      for (const std::string& name : targets) ++queues_.at(name).counters["deduplicated"];
      answer(session, sequence, {old.id, 0});
      return std::nullopt;
    }
  }
  std::optional<std::string> waits_for;
  for (const std::string& name : targets) {
    Queue& queue = queues_.at(name);
    const Room room = room_in(queue, publishing.size(), turn_of);
    if (room == Room::no) {
      hit(targets.size() > 1 ? Corner::topic_refused_by_one : Corner::queue_full);
      ++queue.counters["refused"];
      refuse(session, sequence, ErrorCode::queue_full);
      return std::nullopt;
    }
    if (room == Room::wait && !waits_for) waits_for = name;
  }
  if (waits_for) return waits_for;
  if (targets.size() > 1) hit(Corner::topic_fan_out);
  for (const std::string& name : targets) {
    Queue& queue = queues_.at(name);
    // It had room; dead letters that made room in another one may have filled it since.
    if (queue.rules.overflow == "reject" || queue.rules.overflow == "block") {
      if (!fits(queue, publishing.size())) hit(Corner::dead_letters_fill_bound_queue);
      continue;
    }
    make_room(queue, publishing.size());
  }
  const std::uint64_t id = next_id_++;
  for (const std::string& name : targets) enqueue(queues_.at(name), id, publishing);
  if (keys != nullptr) keys->push_back({key, id, now_.moment_ms()});
  answer(session, sequence, {id, 0});
  return std::nullopt;
}

bool Model::fits(const Queue& queue, std::uint64_t bytes) const {
  if (queue.rules.max_messages != 0 && queue.messages.size() + 1 > queue.rules.max_messages) return false;
  return queue.rules.max_bytes == 0 || queue.bytes() + bytes <= queue.rules.max_bytes;
}

// `turn_of`: the place in line of the publish that asks; those before it go first.
Model::Room Model::room_in(const Queue& queue, std::uint64_t bytes, std::optional<std::uint64_t> turn_of) {
  const bool behind = !queue.waiting.empty() && (!turn_of || queue.waiting.front().order != *turn_of);
  if (!behind && fits(queue, bytes)) return Room::yes;
  if (queue.rules.max_bytes != 0 && bytes > queue.rules.max_bytes) {
    hit(Corner::larger_than_queue);
    return Room::no;
  }
  if (queue.rules.overflow == "reject") return Room::no;
  if (queue.rules.overflow == "block") return Room::wait;
  Queue leased;  // what would be left
  leased.rules = queue.rules;
  for (const Message& message : queue.messages)
    if (message.state == State::leased) leased.messages.push_back(message);
  if (fits(leased, bytes)) return Room::yes;
  hit(Corner::overflow_without_room);
  return Room::no;
}

void Model::make_room(Queue& queue, std::uint64_t bytes) {
  while (!fits(queue, bytes)) {
    const auto oldest = std::find_if(queue.messages.begin(), queue.messages.end(),
                                     [](const Message& message) { return message.state != State::leased; });
    if (oldest == queue.messages.end()) return;
    if (queue.rules.overflow == "dead_letter_oldest" && !queue.is_dead_letters()) {
      hit(Corner::dead_overflow);
      bury(queue, oldest->position, "overflow");
    } else {
      hit(Corner::dropped_oldest);
      leave(queue, oldest->position, "dropped");
    }
  }
}

void Model::enqueue(Queue& queue, std::uint64_t id, const Publishing& publishing) {
  Message message;
  message.id = id;
  message.position = next_position_++;
  message.priority = publishing.priority;
  message.published_ms = now_.wall_ms;
  message.payload = publishing.payload;
  message.headers = publishing.headers;
  if (publishing.delay_ms != 0) {
    message.state = State::delayed;
    message.due_ms = now_.moment_ms() + publishing.delay_ms;
    if (now_.since_ms != 0) hit(Corner::moment_after_turn);
  }
  const std::uint64_t ttl_ms = publishing.ttl_ms != 0 ? publishing.ttl_ms : queue.rules.ttl_ms;
  if (ttl_ms != 0) {
    message.expires_ms = now_.steady_ms + ttl_ms;
    message.expiry_set = next_set_++;
  }
  queue.messages.push_back(message);
  ++queue.counters["enqueued"];
}

void Model::answer(std::uint64_t session, std::uint64_t sequence, const Answer& answer) {
  Session& asking = sessions_[session];
  Producer& sender = producers_.at(asking.producer);
  sender.known = true;
  sender.last = std::max(sender.last, sequence);
  if (sender.missing.erase(sequence) > 0) hit(Corner::missing_sent_again);
  sender.answers[sequence] = answer;
  asking.answers.emplace_back(sequence, answer);
}

void Model::refuse(std::uint64_t session, std::uint64_t sequence, ErrorCode code) {
  answer(session, sequence, {0, static_cast<std::uint64_t>(code)});
}

void Model::wait(Queue& queue, Waiting waiting) {
  const auto after = std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                  [&](const Waiting& other) { return other.order > waiting.order; });
  queue.waiting.insert(after, std::move(waiting));
}

void Model::time_out_waiting() {
  while (true) {
    Queue* queue_of_first = nullptr;
    std::size_t first = 0;
    for (auto& [name, queue] : queues_) {
      for (std::size_t i = 0; i < queue.waiting.size(); ++i) {
        const Waiting& waiting = queue.waiting[i];
        if (waiting.until_ms > now_.steady_ms) continue;
        const bool earlier = queue_of_first == nullptr ||
                             std::pair(waiting.until_ms, waiting.set) <
                                 std::pair(queue_of_first->waiting[first].until_ms, queue_of_first->waiting[first].set);
        if (!earlier) continue;
        queue_of_first = &queue;
        first = i;
      }
    }
    if (queue_of_first == nullptr) return;
    hit(Corner::blocked_timed_out);
    const Waiting late = queue_of_first->waiting[first];
    queue_of_first->waiting.erase(queue_of_first->waiting.begin() + static_cast<std::ptrdiff_t>(first));
    ++queue_of_first->counters["refused"];
    refuse(late.session, late.sequence, ErrorCode::queue_full);
  }
}

// The session goes, and with it what it published and waits: that has no answer. It is missing from the producer's sequences until it
// is sent again; the last ones are as if they had never been sent.
void Model::forget_waiting(std::uint64_t session) {
  Producer& sender = producers_.at(sessions_.at(session).producer);
  for (auto& [name, queue] : queues_) {
    for (const Waiting& waiting : queue.waiting) {
      if (waiting.session != session) continue;
      hit(Corner::blocked_session_gone);
      sender.missing.insert(waiting.sequence);
    }
    std::erase_if(queue.waiting, [&](const Waiting& waiting) { return waiting.session == session; });
  }
  while (sender.missing.erase(sender.last) > 0) {
    hit(Corner::missing_taken_back);
    --sender.last;
  }
}

void Model::admit(const std::string& name) {
  while (!queues_.at(name).waiting.empty()) {
    Queue& queue = queues_.at(name);
    const Waiting first = queue.waiting.front();
    if (queue.rules.overflow == "block" && !fits(queue, first.publishing.size())) return;
    std::uint64_t code = 0;
    const std::vector<std::string> targets = find_queues(first.publishing, code);
    std::optional<std::string> full;
    if (code != 0) {
      refuse(first.session, first.sequence, static_cast<ErrorCode>(code));
    } else {
      full = decide(first.session, first.sequence, first.publishing, targets, first.order);
    }
    std::erase_if(queues_.at(name).waiting, [&](const Waiting& waiting) { return waiting.order == first.order; });
    if (!full) {
      hit(Corner::blocked_admitted);
      continue;
    }
    hit(Corner::blocked_moved);
    wait(queues_.at(*full), first);
  }
}

}  // namespace sluice::model
