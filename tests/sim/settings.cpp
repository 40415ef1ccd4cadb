#include "settings.h"

#include "random.h"

namespace sluice::sim {
namespace {

constexpr std::uint64_t kSaltOfSettings = 2;

wire::Map draw_policy(Random& random, bool small) {
  const std::uint64_t leases[] = {100, 300, 1'000, 5'000};
  const std::uint64_t backoffs[] = {0, 10, 200, 1'000};
  const char* const overflows[] = {"reject", "reject", "block", "drop_oldest", "dead_letter_oldest"};
  wire::Map policy;
  policy.set("lease_ms", random.one_of(leases));
  policy.set("backoff_initial_ms", random.one_of(backoffs));
  policy.set("backoff_max_ms", std::uint64_t{2'000});
  if (random.chance(60)) policy.set("max_attempts", random.between(1, 6));
  if (small && random.chance(60)) policy.set("max_messages", random.between(3, 60));
  if (small && random.chance(20)) policy.set("max_bytes", random.between(500, 20'000));
  if (small) policy.set("overflow", random.one_of(overflows));
  if (random.chance(40)) policy.set("block_timeout_ms", random.between(50, 2'000));
  if (random.chance(15)) policy.set("ttl_ms", random.between(50, 5'000));
  if (random.chance(40)) policy.set("on_expiry", "drop");
  if (random.chance(50)) policy.set("dedup_window_ms", random.between(0, 1) * random.between(200, 5'000));
  if (random.chance(20)) policy.set("dead_letter_max", random.between(1, 30));
  return policy;
}

std::vector<std::string> draw_patterns(Random& random) {
  const char* const patterns[] = {"t.*", "t.#", "#", "t.1", "*.1", "t.2", "u.1"};
  std::vector<std::string> found;
  while (random.chance(45)) found.emplace_back(random.one_of(patterns));
  return found;
}

}  // namespace

Settings draw(std::uint64_t seed) {
  Random random(seed, kSaltOfSettings);
  Settings settings;
  settings.seed = seed;
  // Some runs have one fault, some many, few none.
  const std::uint64_t fault_percents[] = {10, 30, 30, 60};
  const std::uint64_t fault_percent = random.one_of(fault_percents);
  for (bool& on : settings.faults) on = random.chance(fault_percent);
  settings.faults[random.below(kFaults)] = true;

  settings.chaos_us = random.between(2, 12) * kSecond;
  const bool small = random.chance(50);
  const std::uint64_t queues = random.between(1, 4);
  for (std::uint64_t i = 0; i < queues; ++i)
    settings.queues.push_back({"q" + std::to_string(i), draw_policy(random, small), draw_patterns(random)});
  settings.producers = random.between(1, 4);
  settings.consumers = random.between(1, 5);
  const std::uint64_t paces[] = {1'000, 5'000, 20'000};
  settings.publish_every_us = random.one_of(paces);
  settings.messages_max = random.between(500, 8'000);
  const std::uint64_t batches[] = {1, 4, 20};
  settings.batch_max = random.one_of(batches);
  const std::uint64_t payloads[] = {8, 100, 100, 2'000, 30'000};
  settings.payload_max = random.one_of(payloads);
  settings.delay_percent = random.chance(50) ? random.between(1, 40) : 0;
  settings.ttl_percent = random.chance(30) ? random.between(1, 40) : 0;
  settings.key_percent = random.chance(40) ? random.between(1, 50) : 0;
  settings.topic_percent = random.chance(50) ? random.between(10, 70) : 0;
  settings.priority_percent = random.chance(40) ? random.between(5, 80) : 0;
  const std::uint64_t credits[] = {1, 4, 16, 200};
  settings.credit_max = random.one_of(credits);
  const std::uint64_t heartbeats[] = {200, 1'000, 5'000};
  settings.heartbeat_ms = random.one_of(heartbeats);
  settings.settle_asks = random.chance(80);
  settings.drains = random.chance(20);

  settings.journal = !random.chance(15);
  settings.disk.segment_bytes = journal::kSegmentBytesMin << random.below(3);
  const std::uint64_t syncs[] = {100, 1'000, 20'000};
  settings.sync_us = random.one_of(syncs);
  settings.write_us = random.between(10, settings.sync_us);
  if (random.chance(30)) settings.server.memory_bytes = random.between(2'000, 100'000);

  settings.network.delay_us_min = 20;
  const std::uint64_t delays[] = {50, 500, 5'000, 40'000};
  settings.network.delay_us_max = random.one_of(delays);
  settings.network.notice_first = random.chance(30);

  settings.server.version = "sim";
  settings.server.engine.seed = random.next();
  settings.server.heartbeat_ms = settings.heartbeat_ms;
  if (random.chance(30)) settings.server.engine.window.messages = random.between(4, 64);
  if (random.chance(30)) settings.server.outbox.line_bytes_max = random.between(800'000, 2'000'000);
  settings.server.engine.policy.lease_ms = 2'000;
  settings.server.engine.policy.backoff_max_ms = 3'000;
  settings.server.malformed_max = random.between(3, 30);
  settings.server.drain_timeout_ms = random.between(500, 10'000);
  return settings;
}

std::string describe(const Settings& settings) {
  std::string text = "faults:";
  for (std::size_t i = 0; i < kFaults; ++i)
    if (settings.faults[i]) text += " " + std::string(kMarkNames[i]);
  text += "; " + std::to_string(settings.queues.size()) + " queues, " + std::to_string(settings.producers) +
          " producers (batches of " + std::to_string(settings.batch_max) + " every " +
          std::to_string(settings.publish_every_us) + " us, payloads to " + std::to_string(settings.payload_max) +
          "), " + std::to_string(settings.consumers) + " consumers (credit " + std::to_string(settings.credit_max) +
          "), network " + std::to_string(settings.network.delay_us_max) + " us, heartbeat " +
          std::to_string(settings.heartbeat_ms) + " ms, chaos " + std::to_string(settings.chaos_us / kSecond) + " s";
  text += settings.journal ? ", journal with sync in " + std::to_string(settings.sync_us) + " us and segments of " +
                                 std::to_string(settings.disk.segment_bytes) + ", memory " +
                                 std::to_string(settings.server.memory_bytes)
                           : ", in memory";
  if (settings.delay_percent != 0) text += ", delays " + std::to_string(settings.delay_percent) + " %";
  if (settings.ttl_percent != 0) text += ", ttl " + std::to_string(settings.ttl_percent) + " %";
  if (settings.key_percent != 0) text += ", keys " + std::to_string(settings.key_percent) + " %";
  if (settings.topic_percent != 0) text += ", topics " + std::to_string(settings.topic_percent) + " %";
  if (settings.priority_percent != 0) text += ", priorities " + std::to_string(settings.priority_percent) + " %";
  return text;
}

}  // namespace sluice::sim
