// 06_worker_group_delays_priorities: workers share a named subscription: each piece of work goes to one of them, the urgent first,
// the delayed when it is due, and a piece of work that was asked for twice is done once.
//
//   example_06_worker_group_delays_priorities [URL]

#include <algorithm>
#include <chrono>
#include <iostream>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sluice/client.h"
#include "sluice/consumer.h"

namespace {

constexpr int kWorkers = 3;
constexpr sluice::Milliseconds kDelay{400};
const std::vector<std::string> kAtOnce{"urgent 1", "urgent 2", "normal 1", "normal 2", "normal 3", "idle 1"};
const std::vector<std::string> kDelayed{"in a moment", "later"};

using Clock = std::chrono::steady_clock;

struct Entry {
  std::string work;
  int worker = 0;
  Clock::time_point at;
};

// What was handled, in order of delivery. The workers run at the same time, so that they may finish in another order; but the numbers
// of leases rise with each delivery.
class Journal {
 public:
  void add(int worker, const sluice::Delivery& delivery) {
    const std::lock_guard lock(mutex_);
    entries_[delivery.lease()] = {std::string(delivery.payload()), worker, Clock::now()};
  }
  std::map<std::uint64_t, Entry> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;
};

// The urgent first, each once, by all workers of the group; what is delayed not before it is due.
bool judge(const Journal& journal, Clock::time_point published_at) {
  std::vector<std::string> at_once;
  std::set<int> workers;
  bool in_time = true;
  for (const auto& [lease, entry] : journal.entries()) {
    std::cout << "worker " << entry.worker << ": " << entry.work << "\n";
    workers.insert(entry.worker);
    const auto delayed = std::find(kDelayed.begin(), kDelayed.end(), entry.work);
    if (delayed == kDelayed.end()) at_once.push_back(entry.work);
    const auto due = published_at + (entry.work == "later" ? kDelay : kDelay / 2);
    if (delayed != kDelayed.end() && entry.at < due) in_time = false;
  }
  return at_once == kAtOnce && workers.size() == kWorkers && in_time;
}

sluice::PublishOptions to_topic(std::optional<int> priority, sluice::Milliseconds delay) {
  sluice::PublishOptions options;
  options.to_topic = true;
  options.priority = priority;
  options.delay = delay;
  return options;
}

void publish_work(sluice::Client& client) {
  client.publish_nowait("work.late", "later", to_topic(9, kDelay));
  client.publish_nowait("work.late", "in a moment", to_topic(std::nullopt, kDelay / 2));
  client.publish_nowait("work.idle", "idle 1", to_topic(0, {}));
  for (const char* const normal : {"normal 1", "normal 2", "normal 3"})
    client.publish_nowait("work.normal", normal, to_topic(std::nullopt, {}));
  for (const char* const urgent : {"urgent 1", "urgent 2"})
    client.publish_nowait("work.urgent", urgent, to_topic(9, {}));
  sluice::PublishOptions again = to_topic(9, {});
  again.dedup_key = "bill 17";
  const std::uint64_t first = client.publish("bills", "bill 17", again).get().message_id;
  const std::uint64_t second = client.publish("bills", "bill 17", again).get().message_id;
  std::cout << "bill 17 asked for twice: message " << first << ", and message " << second << "\n";
  client.flush();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    sluice::Client client(argc > 1 ? argv[1] : "tcp://127.0.0.1:5570");
    client.bind("workers", "work.#");
    client.bind("bills", "bills");

    // Published before anybody works, so that the order of the queue shows.
    client.pause_queue("workers");
    const Clock::time_point published_at = Clock::now();
    publish_work(client);

    // One at a time each: what a worker does not hold, another can take.
    Journal journal;
    std::latch left(static_cast<std::ptrdiff_t>(kAtOnce.size() + kDelayed.size()));
    sluice::ConsumeOptions options;
    options.prefetch = 1;
    std::vector<std::unique_ptr<sluice::Consumer>> workers;
    for (int number = 1; number <= kWorkers; ++number) {
      const auto work = [&, number](sluice::Delivery& delivery) {
        journal.add(number, delivery);
        delivery.ack();
        left.count_down();
      };
      workers.push_back(std::make_unique<sluice::Consumer>(client, "workers", work, options));
    }
    client.resume_queue("workers");
    left.wait();
    workers.clear();

    const std::uint64_t bills = client.queue_info("bills").ready;
    return judge(journal, published_at) && bills == 1 ? 0 : 1;
  } catch (const sluice::ClientError& error) {
    std::cerr << error.what() << " (" << error.name() << ": " << error.hint() << ")\n";
    return 1;
  }
}
