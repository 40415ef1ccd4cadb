#include "generator.h"

#include <algorithm>
#include <numeric>

namespace sluice::model {
namespace {

constexpr std::uint64_t kTopicWindowMs = 120'000;
// Chosen so that all seeds of seeds.txt are plain.
constexpr std::uint64_t kMoreSalt = 151ULL << 32;
const char* const kProducers[] = {"producer-0000001", "producer-0000002"};
const char* const kKeys[] = {"k1", "k2", "k3"};
const char* const kTopics[] = {"t.1", "t.2", "t", "t.1.x", "u.1"};
const char* const kPatterns[] = {"t.*", "t.#", "#", "t.1", "*.1", "t.2", "u.1", "t"};

}  // namespace

std::vector<std::string> Generator::producers() { return {std::begin(kProducers), std::end(kProducers)}; }

Generator::Generator(std::uint64_t seed) : random_(seed), more_random_(seed + kMoreSalt) {
  plain_ = more_random_.next() % 2 == 0;
  const char* const names[] = {"a", "b", "c", "d"};
  const std::uint64_t queues = 1 + below(4);
  for (std::uint64_t i = 0; i < queues; ++i) names_.emplace_back(names[i]);
  sessions_max_ = 2 + below(3);
  turn_percent_ = 40 + 20 * below(4);
  delay_percent_ = below(2) * below(50);
  ttl_percent_ = below(2) * below(50);
  key_percent_ = below(2) * below(60);
  topic_percent_ = below(3) * 20;
  priorities_ = 1 + below(3);
  Rules& rules = options_.rules;
  rules = read_rules(a_policy(30), rules).value_or(rules);
  rules.lease_ms = 100 + below(400);
  rules.backoff_jitter = 0;
  rules.dedup_window_ms = chance(50) ? 100 : 0;
  options_.auto_create = !chance(15);
  if (chance(50)) options_.credit_messages_max = 3 + below(10);
  if (chance(50)) options_.credit_bytes_max = 40 + below(200);
  if (chance(40)) options_.window_messages = 2 + below(6);
  const std::uint64_t base[] = {4, 2, 1, 30, 8, 3, 40, 14};
  for (std::size_t i = 0; i < std::size(base); ++i) weights_[i] = base[i] * (50 + below(150));
  options_.seed = seed;
  if (!plain_) draw_more();
}

void Generator::draw_more() {
  if (more_chance(50)) options_.rules.backoff_jitter = static_cast<double>(1 + more_below(10)) / 10;
  if (more_chance(25)) options_.queues_max = 1 + more_below(8);
  if (more_chance(25)) options_.consumers_max = 1 + more_below(2);
  if (more_chance(25)) options_.bindings_max = 1 + more_below(4);
  if (more_chance(10)) drain_at_ = 100 + more_below(400);
  twins_ = more_chance(25);
  if (twins_) topic_percent_ = 70;
}

std::uint64_t Generator::a_session(const Model& model) {
  auto at = model.sessions().begin();
  std::advance(at, below(model.sessions().size()));
  return at->first;
}

std::string Generator::a_queue(const Model& model) {
  const std::uint64_t dice = below(100);
  if (dice < 75) return names_[below(names_.size())];
  if (dice < 90) return names_[below(names_.size())] + ".dlq";
  if (dice < 98) {  // any there is, unnamed subscriptions too
    if (model.queues().empty()) return names_[0];
    auto at = model.queues().begin();
    std::advance(at, below(model.queues().size()));
    return at->first;
  }
  return dice < 99 ? "not a name" : "";
}

std::string Generator::a_pattern() { return chance(3) ? "t*.x" : one_of(kPatterns); }

wire::Map Generator::a_policy(std::uint64_t percent) {
  const std::uint64_t backoffs[] = {0, 1, 7, 40};
  const std::uint64_t backoff_maxima[] = {0, 25, 300};
  const double factors[] = {1.0, 1.5, 2.0};
  const std::uint64_t sizes[] = {0, 6, 12, 30};
  const std::uint64_t ttls[] = {0, 1, 40, 250};
  const std::uint64_t windows[] = {0, 1, 30, 150};
  const char* const overflows[] = {"reject", "block", "block", "drop_oldest", "dead_letter_oldest"};
  wire::Map map;
  const auto maybe = [&](const char* key, wire::Value value) {
    if (chance(percent)) map.set(key, std::move(value));
  };
  maybe("lease_ms", 100 + below(400));
  maybe("max_attempts", 1 + below(4));
  maybe("backoff_initial_ms", one_of(backoffs));
  maybe("backoff_max_ms", one_of(backoff_maxima));
  maybe("backoff_factor", one_of(factors));
  maybe("max_messages", below(6));
  maybe("max_bytes", one_of(sizes));
  maybe("overflow", one_of(overflows));
  maybe("block_timeout_ms", 1 + below(300));
  maybe("ttl_ms", one_of(ttls));
  maybe("on_expiry", chance(50) ? "drop" : "dead_letter");
  maybe("dedup_window_ms", one_of(windows));
  maybe("dead_letter_max", 1 + below(4));
  if (chance(2)) map.set("max_attempts", std::uint64_t{0});
  if (twins_ && more_chance(40)) map.set("overflow", "dead_letter_oldest").set("max_messages", 1 + more_below(2));
  if (more_chance(percent)) map.set("backoff_jitter", static_cast<double>(more_below(11)) / 10);
  return map;
}

Command Generator::next(const Model& model) {
  ++commands_;
  if (model.sessions().empty()) return open();
  if (commands_ == drain_at_) return {a_session(model), Drain{}, {}};
  if (commands_ < 20 && chance(50)) return request(model);
  const std::uint64_t all = std::accumulate(std::begin(weights_), std::end(weights_), std::uint64_t{0});
  std::uint64_t dice = below(all);
  std::size_t action = 0;
  while (dice >= weights_[action]) dice -= weights_[action++];
  switch (action) {
    case 0:
      return model.sessions().size() < sessions_max_ ? open() : publish(model);
    case 1:
      return {a_session(model), Close{}, {}};
    case 2: {
      const std::uint64_t session = a_session(model);
      return {session, BadPublish{model.producer(session).last + 1, 1 + below(2)}, {}};
    }
    case 3:
      return publish(model);
    case 4:
      return consume(model);
    case 5:
      return cancel(model);
    case 6:
      return settle(model);
    default:
      return request(model);
  }
}

Command Generator::open() {
  return {next_session_++, Open{chance(50) ? std::string(one_of(kProducers)) : std::string()}, {}};
}

wire::PublishMessage Generator::message(Command& command, const std::string& target, bool topic) {
  wire::PublishMessage message;
  Sent sent;
  sent.payload = std::to_string(sent_.size()) + ":" + std::string(below(5), 'x');
  sent.target = target;
  sent.topic = topic;
  if (chance(delay_percent_)) sent.delay_ms = 1 + below(chance(50) ? 5 : 200);
  if (chance(ttl_percent_)) sent.ttl_ms = 1 + below(chance(50) ? 5 : 300);
  if (chance(key_percent_)) sent.key = one_of(kKeys);
  message.payload = command.keep(sent.payload);
  if (chance(10)) message.headers = command.keep(std::string(1 + below(4), 'h'));
  message.delay_ms = sent.delay_ms;
  message.ttl_ms = sent.ttl_ms;
  message.dedup_key = command.keep(sent.key);
  message.priority = static_cast<std::uint8_t>(4 + below(priorities_));
  sent_.push_back(std::move(sent));
  return message;
}

Command Generator::publish(const Model& model) {
  Command command;
  command.session = a_session(model);
  const bool topic = chance(topic_percent_);
  const std::string target = topic ? (chance(2) ? "t..1" : one_of(kTopics)) : a_queue(model);
  const Producer& producer = model.producer(command.session);
  wire::Publish frame;
  frame.kind = topic ? wire::PublishKind::topic : wire::PublishKind::queue;
  frame.queue = command.keep(target);
  frame.first_sequence = producer.last + 1;
  if (producer.last > 0 && chance(12)) frame.first_sequence = producer.last - std::min(producer.last - 1, below(6));
  if (chance(2)) frame.first_sequence = producer.last + 2 + below(2);
  const std::uint64_t count = 1 + (chance(50) ? 0 : below(4));
  for (std::uint64_t i = 0; i < count; ++i) frame.messages.push_back(message(command, target, topic));
  command.action = std::move(frame);
  return command;
}

Command Generator::consume(const Model& model) {
  Command command;
  command.session = a_session(model);
  wire::Consume frame;
  frame.request = next_request_++;
  frame.consumer = 1 + below(3);
  frame.credit_messages = below(6);
  frame.credit_bytes = below(60);
  if (chance(3)) frame.credit_messages = 1ULL << 40;
  if (chance(3)) frame.credit_bytes = 1ULL << 40;
  const bool unnamed = chance(topic_percent_ / 2);
  if (unnamed) {
    frame.topic = command.keep(a_pattern());
    frame.policy = a_policy(30);
  }
  if (!unnamed || chance(3)) frame.queue = command.keep(a_queue(model));
  command.action = std::move(frame);
  return command;
}

Command Generator::cancel(const Model& model) {
  return {a_session(model), wire::Cancel{next_request_++, 1 + below(3)}, {}};
}

Command Generator::settle(const Model& model) {
  Command command;
  command.session = a_session(model);
  wire::Settle frame;
  if (chance(40)) frame.request = next_request_++;
  const std::uint64_t settlements = chance(30) ? 0 : 1 + (chance(70) ? 0 : below(3));
  for (std::uint64_t i = 0; i < settlements; ++i) add_settlement(model, command, frame);
  if (settlements == 0 || chance(40)) add_grant(model, command.session, frame);
  command.action = std::move(frame);
  return command;
}

void Generator::add_settlement(const Model& model, Command& command, wire::Settle& frame) {
  wire::Settlement settlement;
  settlement.first_lease = 1 + below(200);
  if (!model.leases().empty() && chance(95)) {
    const Lease& lease = model.leases()[below(model.leases().size())];
    settlement.first_lease = lease.number;
    const auto holder = std::find_if(model.consumers().begin(), model.consumers().end(),
                                     [&](const Consumer& each) { return each.key == lease.consumer; });
    if (frame.settlements.empty() && chance(92)) command.session = holder->session;
  }
  settlement.last_lease = settlement.first_lease + (chance(80) ? 0 : below(3));
  const std::uint64_t dice = below(100);
  if (dice < 40) {
    settlement.verb = wire::Verb::ack;
  } else if (dice < 65) {
    settlement.verb = wire::Verb::nack;
    if (chance(50)) settlement.delay_ms = chance(30) ? 0 : below(100);
  } else if (dice < 78) {
    settlement.verb = wire::Verb::release;
  } else if (dice < 86) {
    settlement.verb = wire::Verb::reject;
  } else {
    settlement.verb = wire::Verb::extend;
    if (chance(70)) settlement.lease_ms = 100 + below(300);
    if (chance(10)) settlement.lease_ms = 12ULL * 3'600'000 + below(200);
  }
  const bool reasoned = settlement.verb == wire::Verb::nack || settlement.verb == wire::Verb::reject;
  if (reasoned && chance(60)) settlement.reason = command.keep("reason " + std::to_string(below(9)));
  frame.settlements.push_back(settlement);
}

void Generator::add_grant(const Model& model, std::uint64_t session, wire::Settle& frame) {
  wire::Grant grant{1 + below(3), below(4), below(40)};
  for (const Consumer& each : model.consumers())
    if (each.session == session && !each.cancelled && chance(60)) grant.consumer = each.number;
  if (chance(3)) grant.messages = 1ULL << 40;
  if (chance(3)) grant.bytes = ~std::uint64_t{0};
  frame.grants.push_back(grant);
}

Command Generator::request(const Model& model) {
  Command command;
  command.session = a_session(model);
  wire::Request frame;
  frame.request = next_request_++;
  wire::Map& arguments = frame.arguments;
  const std::uint64_t dice = commands_ < 20 ? below(45) : below(100);
  const std::string queue = a_queue(model);
  arguments.set("name", queue);
  if (dice < 25) {
    frame.verb = "queue.declare";
    if (chance(80)) arguments.set("policy", a_policy(45));
  } else if (dice < 45) {
    frame.verb = "bind.add";
    const bool dead = is_dead_letter_name(queue) && !chance(5) && !more_chance(twins_ ? 90 : 30);
    arguments = wire::Map().set("queue", dead ? names_[0] : queue).set("pattern", a_pattern());
  } else if (dice < 62) {
    frame.verb = "queue.edit";
    arguments.set("policy", a_policy(20));
  } else if (dice < 67) {
    frame.verb = "bind.remove";
    arguments = wire::Map().set("queue", queue).set("pattern", a_pattern());
  } else if (dice < 82) {
    frame.verb = "dlq.replay";
    if (!is_dead_letter_name(queue) && chance(90)) arguments.set("name", queue + ".dlq");
    if (chance(30)) arguments.set("to", a_queue(model));
    if (chance(25)) arguments.set("limit", 1 + below(2));
    if (chance(25)) arguments.set("dry_run", true);
    const char* const reasons[] = {"rejected", "attempts", "expired", "overflow"};
    if (chance(25)) arguments.set("reason", one_of(reasons));
    if (chance(15)) {
      wire::Array ids;
      for (int i = 0; i < 6; ++i) ids.emplace_back(1 + below(sent_.size() + 1));
      arguments.set("ids", std::move(ids));
    }
  } else if (dice < 85) {
    frame.verb = "queue.pause";
  } else if (dice < 91) {
    frame.verb = "queue.resume";
  } else if (dice < 94) {
    frame.verb = "queue.purge";
  } else if (dice < 96) {
    frame.verb = "queue.delete";
  } else if (dice < 98) {
    frame.verb = "queue.peek";
    arguments.set("limit", 1 + below(4)).set("after", below(sent_.size() + 1));
  } else {
    frame.verb = "queue.info";
  }
  command.action = std::move(frame);
  return command;
}

std::uint64_t Generator::pause_ms(const Model& model, std::uint64_t now_ms) {
  const std::uint64_t dice = below(1'000);
  if (dice < 450) return 0;
  if (dice < 600) return 1;
  if (dice < 750) return below(30);
  if (dice < 760) return below(1'500);
  if (dice < 762) return kTopicWindowMs - below(3);
  // To what happens next, or may: just before, at it, just after.
  std::vector<std::uint64_t> times = model.timers();
  if (chance(20)) times = model.windows();
  std::erase_if(times, [&](std::uint64_t time) { return time <= now_ms; });
  if (times.empty()) return below(10);
  std::uint64_t next = *std::min_element(times.begin(), times.end());
  if (chance(10)) next = times[below(times.size())];
  if (next - now_ms > 10'000) return below(10);
  return next - now_ms - 1 + below(3);
}

std::uint64_t Generator::lag_ms() {
  if (more_chance(30)) return 1;
  return more_chance(3) ? 1 + more_below(60) : 0;
}

std::int64_t Generator::wall_step_ms() {
  if (!more_chance(2)) return 0;
  const auto step_ms = static_cast<std::int64_t>(more_below(7'200'000));
  return more_chance(50) ? -step_ms : step_ms;
}

}  // namespace sluice::model
