#include "faults.h"

#include <cerrno>
#include <utility>

namespace sluice::sim {

Faults::Faults(Stage& stage, BrokerUnderTest& broker, std::vector<Client*> victims)
    : stage_(stage),
      world_(stage.world),
      random_(stage.world.stream(3)),
      broker_(broker),
      victims_(std::move(victims)) {}

void Faults::repeat(Mark fault, std::uint64_t every_us, std::function<bool()> what) {
  if (!stage_.settings.on(fault)) return;
  world_.after(random_.between(every_us / 10, 2 * every_us), [this, fault, every_us, what] {
    if (ended_) return;
    if (what()) {
      world_.hit(fault);
      world_.tell("fault: " + std::string(kMarkNames[static_cast<std::size_t>(fault)]));
    }
    repeat(fault, every_us, what);
  });
}

void Faults::begin() {
  repeat(Mark::connection_cut, 2 * kSecond, [this] {
    Client& client = a_client();
    if (client.link() == nullptr) return false;
    stage_.network.cut(*client.link());
    return true;
  });
  repeat(Mark::connection_half_open, 4 * kSecond, [this] {
    Client& client = a_client();
    if (client.link() == nullptr) return false;
    client.link()->half_open = true;
    return true;
  });
  repeat(Mark::peer_not_reading, 3 * kSecond, [this] { return stop_reading(); });
  repeat(Mark::client_frozen, 3 * kSecond, [this] {
    a_client().freeze(random_.between(10 * kMs, 4 * stage_.settings.heartbeat_ms * kMs));
    return true;
  });
  repeat(Mark::client_killed, 2 * kSecond, [this] {
    Client& client = a_client();
    client.kill(random_.chance(70));
    return true;
  });
  repeat(Mark::broker_stalled, 4 * kSecond, [this] { return stall(); });
  repeat(Mark::wall_clock_step, 4 * kSecond, [this] { return step_wall(); });
  repeat(Mark::reconnect_storm, 6 * kSecond, [this] { return storm(); });
  // Only now and then by HELLO: a client that does not know its session any more.
  repeat(Mark::client_frozen, 5 * kSecond, [this] {
    a_client().say_hello_again();
    return false;
  });
  if (stage_.settings.journal) begin_disk();
}

void Faults::begin_disk() {
  repeat(Mark::broker_killed, 4 * kSecond, [this] { return kill(Death::killed, 0); });
  repeat(Mark::power_cut, 4 * kSecond, [this] { return kill(Death::power_cut, 0); });
  repeat(Mark::killed_between_sends, 4 * kSecond,
         [this] { return kill(random_.chance(50) ? Death::killed : Death::power_cut, random_.between(1, 50)); });
  repeat(Mark::disk_slow, 5 * kSecond, [this] { return slow_disk(); });
  repeat(Mark::disk_full, 4 * kSecond, [this] { return fill_disk(); });
  repeat(Mark::write_failed, 6 * kSecond, [this] { return fail_disk(test::Call::write, EIO); });
  repeat(Mark::sync_failed, 6 * kSecond, [this] { return fail_disk(test::Call::sync, EIO); });
  repeat(Mark::power_cut_at_disk_call, 4 * kSecond, [this] { return cut_power_at_disk_call(); });
}

bool Faults::kill(Death death, std::uint64_t after_sends) {
  if (!broker_.runs()) return false;
  death_ = death;
  if (after_sends == 0) {
    stage_.network.interrupt();
  } else {
    stage_.network.interrupt_after_sends(after_sends);
  }
  return true;
}

bool Faults::cut_power_at_disk_call() {
  if (!broker_.runs()) return false;
  broker_.expect_failure();
  broker_.disk().stop_after(random_.between(1, 40));
  return true;
}

bool Faults::fail_disk(test::Call call, int number) {
  if (!broker_.runs()) return false;
  broker_.expect_failure();
  broker_.disk().fail(call, random_.between(1, 20), number, random_.chance(50));
  return true;
}

bool Faults::slow_disk() {
  const std::uint64_t lengths[] = {500 * kMs, 2 * kSecond, 10 * kSecond};
  const std::uint64_t until_us = world_.now_us() + random_.one_of(lengths);
  broker_.disk_speed().slow_until_us = until_us;
  stage_.slow_until_us = std::max(stage_.slow_until_us, until_us + kSecond);
  return true;
}

bool Faults::fill_disk() {
  if (!broker_.runs()) return false;
  broker_.disk().set_capacity(broker_.disk().used_bytes() + random_.below(2) * stage_.settings.disk.segment_bytes);
  const std::uint64_t lasts_us = random_.between(100 * kMs, 3 * kSecond);
  // Once the reserve is used up answers wait for room.
  stage_.slow_until_us = std::max(stage_.slow_until_us, world_.now_us() + lasts_us + kSecond);
  world_.after(lasts_us, [this] { broker_.disk().set_capacity(~std::uint64_t{0}); });
  return true;
}

void Faults::end() {
  ended_ = true;
  stage_.network.stall_until(0);
  broker_.disk().heal();
  broker_.disk().stop_after(~std::uint64_t{0} >> 1);
  broker_.disk().set_capacity(~std::uint64_t{0});
  broker_.disk_speed().slow_until_us = 0;
  for (Link* link : stage_.network.links()) link->reads = true;
}

bool Faults::stop_reading() {
  Client& client = a_client();
  Link* const link = client.link();
  if (link == nullptr) return false;
  link->reads = false;
  link->blocked_once = true;
  world_.after(random_.between(kMs, 3 * kSecond), [link] { link->reads = true; });
  return true;
}

bool Faults::stall() {
  if (!broker_.runs()) return false;
  const std::uint64_t lengths[] = {50 * kMs, 700 * kMs, 5 * kSecond, 60 * kSecond};
  const std::uint64_t until_us = world_.now_us() + random_.one_of(lengths);
  stage_.network.stall_until(until_us);
  stage_.excused_us = std::max(stage_.excused_us, until_us + kSecond);
  return true;
}

bool Faults::step_wall() {
  const std::int64_t hour_us = 3'600 * static_cast<std::int64_t>(kSecond);
  const std::int64_t steps[] = {hour_us, -hour_us, 87'600 * hour_us, 100 * static_cast<std::int64_t>(kMs),
                                -100 * static_cast<std::int64_t>(kMs)};
  std::int64_t step_us = random_.one_of(steps);
  // What is kept on disk has wall time: after a step back it waits as long as the step, and nobody waits an hour here.
  if (stage_.settings.journal && step_us == -hour_us) step_us = -2 * static_cast<std::int64_t>(kSecond);
  world_.step_wall(step_us);
  stage_.oracle.wall_stepped();
  return true;
}

// All connections end at once.
bool Faults::storm() {
  for (Client* client : victims_)
    if (client->link() != nullptr) stage_.network.cut(*client->link());
  return true;
}

}  // namespace sluice::sim
