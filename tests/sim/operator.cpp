#include "operator.h"

#include <utility>

namespace sluice::sim {
namespace {

const char* const kPatterns[] = {"t.*", "t.#", "#", "t.1", "*.1", "t.2", "u.1"};

}  // namespace

Operator::Operator(Stage& stage, std::string name, std::uint64_t salt) : Client(stage, std::move(name), salt) {}

void Operator::on_open(const wire::Welcome&) {
  if (!ready_) return declare_all();
  ask("bind.list", {});
  if (stage_.calm) resume_all();
}

void Operator::declare_all() {
  for (const QueueSettings& queue : stage_.settings.queues) {
    ask("queue.declare", wire::Map().set("name", queue.name).set("policy", queue.policy));
    for (const std::string& pattern : queue.patterns)
      ask("bind.add", wire::Map().set("queue", queue.name).set("pattern", pattern));
  }
  last_setup_request_ = next_request();
  send(wire::Request{last_setup_request_, "queue.list", {}});
}

void Operator::on_frame(const wire::BrokerFrame& frame) {
  const auto* reply = std::get_if<wire::Reply>(&frame);
  if (reply == nullptr || ready_ || reply->request != last_setup_request_) return;
  ready_ = true;
  world_.after(random_.below(kSecond), [this] { tick(); });
}

void Operator::tick() {
  if (stage_.calm) return;
  if (open()) ask_something();
  world_.after(random_.between(10 * kMs, 800 * kMs), [this] { tick(); });
}

void Operator::ask(std::string verb, wire::Map arguments) {
  send(wire::Request{next_request(), std::move(verb), std::move(arguments)});
}

std::string Operator::a_queue() {
  std::string name = stage_.settings.queues[random_.below(stage_.settings.queues.size())].name;
  if (random_.chance(15)) name += ".dlq";
  return name;
}

void Operator::ask_something() {
  const Settings& settings = stage_.settings;
  const std::string queue = a_queue();
  const wire::Map name = wire::Map().set("name", queue);
  switch (random_.below(14)) {
    case 0:
      return ask("queue.peek", wire::Map(name).set("limit", random_.between(1, 20)));
    case 1:
      if (random_.chance(30)) ask("dlq.replay", wire::Map().set("name", settings.queues[0].name + ".dlq"));
      return;
    case 2:
      if (!settings.on(Mark::queue_purged)) return;
      world_.hit(Mark::queue_purged);
      return ask("queue.purge", name);
    case 3:
      if (!settings.on(Mark::queue_deleted) || !random_.chance(30)) return;
      world_.hit(Mark::queue_deleted);
      return ask("queue.delete", name);
    case 4:
      if (!settings.on(Mark::queue_paused)) return;
      world_.hit(Mark::queue_paused);
      return ask("queue.pause", name);
    case 5:
    case 6:
      return ask("queue.resume", name);
    case 7:
      if (!settings.on(Mark::policy_edited)) return;
      world_.hit(Mark::policy_edited);
      return ask(
          "queue.edit",
          wire::Map(name).set(
              "policy",
              wire::Map().set("max_attempts", random_.between(1, 8)).set("lease_ms", random_.between(100, 3'000))));
    case 8:
      return ask("bind.add",
                 wire::Map().set("queue", settings.queues[0].name).set("pattern", random_.one_of(kPatterns)));
    case 9:
      return ask("bind.remove",
                 wire::Map().set("queue", settings.queues[0].name).set("pattern", random_.one_of(kPatterns)));
    case 10:
      return ask("queue.list", {});
    case 11:
      return ask("bind.list", {});
    case 12:
      return ask("session.list", wire::Map().set("limit", random_.between(1, 500)));
    default:
      return ask("queue.info", name);
  }
}

void Operator::resume_all() {
  if (!open()) return;
  for (const QueueSettings& queue : stage_.settings.queues) {
    ask("queue.resume", wire::Map().set("name", queue.name));
    ask("queue.resume", wire::Map().set("name", queue.name + ".dlq"));
  }
}

}  // namespace sluice::sim
