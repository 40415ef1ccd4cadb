#include "producer.h"

#include <algorithm>
#include <utility>

namespace sluice::sim {
namespace {

const char* const kTopics[] = {"t.1", "t.2", "t", "t.1.x", "u.1"};

}  // namespace

Producer::Producer(Stage& stage, std::string name, std::uint64_t salt, bool named)
    : Client(stage, std::move(name), salt) {
  if (named) {
    identity_ = "producer-" + this->name();
    identity_.resize(16, '.');
  }
  careless_ = random_.chance(20);
  world_.after(random_.below(20 * kMs), [this] { tick(); });
}

wire::Hello Producer::hello() {
  wire::Hello hello = Client::hello();
  hello.producer = identity_;
  return hello;
}

void Producer::on_open(const wire::Welcome& welcome) {
  window_ = std::min<std::uint64_t>(welcome.publish_messages, 200);
  if (identity_.empty()) {
    next_sequence_ = 1;
  } else {
    send_again();
  }
}

void Producer::on_closed() {
  if (identity_.empty()) unconfirmed_.clear();
}

void Producer::on_frame(const wire::BrokerFrame& frame) {
  const auto* confirm = std::get_if<wire::Confirm>(&frame);
  if (confirm == nullptr) return;
  for (const wire::Accepted& each : confirm->accepted)
    for (std::uint64_t i = 0; i < each.count; ++i) unconfirmed_.erase(each.first_sequence + i);
  for (const wire::Refused& each : confirm->refused)
    for (std::uint64_t i = 0; i < each.count; ++i) unconfirmed_.erase(each.first_sequence + i);
}

void Producer::tick() {
  if (stage_.calm || stage_.oracle.written() >= stage_.settings.messages_max) return;
  if (open()) publish();
  world_.after(random_.between(1, 2 * stage_.settings.publish_every_us), [this] { tick(); });
}

void Producer::publish() {
  const Settings& settings = stage_.settings;
  const std::uint64_t count = random_.between(1, settings.batch_max);
  const bool fits = unconfirmed_.size() + count < window_;
  if (!fits && !(careless_ && random_.chance(5))) return;
  const bool topic = random_.chance(settings.topic_percent);
  std::string target = topic ? random_.one_of(kTopics) : settings.queues[random_.below(settings.queues.size())].name;
  if (!topic && random_.chance(2)) target = "made-by-publish";
  std::vector<Sent*> messages;
  for (std::uint64_t i = 0; i < count; ++i) messages.push_back(&draw(target, topic));
  const std::uint64_t first = next_sequence_;
  next_sequence_ += count;
  for (std::uint64_t i = 0; i < count; ++i) unconfirmed_[first + i] = messages[i];
  send_messages(first, messages);
}

Sent& Producer::draw(const std::string& target, bool topic) {
  const Settings& settings = stage_.settings;
  const char* const keys[] = {"k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"};
  const std::uint64_t delays[] = {5, 100, 1'000, 8'000};
  const std::uint64_t ttls[] = {5, 100, 1'000, 8'000};
  Sent sent;
  sent.topic = topic;
  sent.target = target;
  sent.bytes = static_cast<std::uint32_t>(random_.between(8, settings.payload_max));
  if (random_.chance(10)) sent.headers = std::string("\x81\xa1h\xa5value", 9);
  if (random_.chance(settings.priority_percent)) sent.priority = static_cast<std::uint8_t>(random_.below(10));
  if (random_.chance(settings.delay_percent)) sent.delay_ms = random_.between(1, random_.one_of(delays));
  if (random_.chance(settings.ttl_percent)) sent.ttl_ms = random_.between(1, random_.one_of(ttls));
  if (random_.chance(settings.key_percent)) sent.key = random_.one_of(keys);
  sent.poison = settings.on(Mark::poison_message) && random_.chance(1);
  return stage_.oracle.write(std::move(sent));
}

void Producer::send_messages(std::uint64_t first, const std::vector<Sent*>& messages) {
  std::vector<std::string> payloads;  // the frame points into them
  payloads.reserve(messages.size());
  wire::Publish frame;
  frame.queue = messages.front()->target;
  frame.kind = messages.front()->topic ? wire::PublishKind::topic : wire::PublishKind::queue;
  frame.first_sequence = first;
  for (const Sent* sent : messages) {
    payloads.push_back(payload_of(sent->serial, sent->bytes));
    wire::PublishMessage message;
    message.payload = payloads.back();
    message.headers = sent->headers;
    message.delay_ms = sent->delay_ms;
    message.priority = sent->priority;
    message.ttl_ms = sent->ttl_ms;
    message.dedup_key = sent->key;
    frame.messages.push_back(message);
  }
  send(frame);
}

// All that is unanswered, in order, a frame for each run of one target.
void Producer::send_again() {
  std::vector<Sent*> run;
  std::uint64_t first = 0;
  const auto flush = [&] {
    if (!run.empty()) send_messages(first, run);
    run.clear();
  };
  for (const auto& [sequence, sent] : unconfirmed_) {
    const bool goes_on = !run.empty() && sequence == first + run.size() && run.back()->target == sent->target &&
                         run.back()->topic == sent->topic && run.size() < 100;
    if (!goes_on) flush();
    if (run.empty()) first = sequence;
    run.push_back(sent);
  }
  flush();
}

}  // namespace sluice::sim
