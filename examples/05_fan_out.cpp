// 05_fan_out: one topic, three subscribers: a fast one, a slow one whose small queue drops its oldest messages, and one that fails
// always. None of them holds up another, or the publisher; what the failing one cannot handle ends as its dead letters.
//
//   example_05_fan_out [URL]

#include <iostream>
#include <latch>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "sluice/client.h"
#include "sluice/consumer.h"

namespace {

constexpr int kOrders = 200;
constexpr int kSlowLimit = 10;

// A named subscription: a queue with a policy of its own, bound to a pattern.
void subscribe(sluice::Client& client, const std::string& queue, const sluice::QueuePolicy& policy) {
  client.declare_queue(queue, policy);
  client.bind(queue, "orders.*.placed");
}

void subscribe_all(sluice::Client& client) {
  subscribe(client, "fast", {});
  sluice::QueuePolicy small;
  small.max_messages = kSlowLimit;
  small.overflow = "drop_oldest";
  subscribe(client, "slow", small);
  sluice::QueuePolicy impatient;
  impatient.max_attempts = 2;
  impatient.backoff.initial_ms = 5;
  subscribe(client, "failing", impatient);
}

sluice::QueueInfo wait_for_dead_letters(sluice::Client& client, const std::string& queue, std::uint64_t count) {
  sluice::QueueInfo info = client.queue_info(queue);
  while (info.dead < count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    info = client.queue_info(queue);
  }
  return info;
}

sluice::Consumer one_at_a_time(sluice::Client& client, const std::string& queue) {
  sluice::ConsumeOptions options;
  options.prefetch = 1;
  return {client, queue, options};
}

// Handles what has stayed in the queue. The newest is never dropped for an older one.
int take_rest(sluice::Consumer& consumer) {
  int handled = 0;
  for (sluice::Delivery& delivery : consumer) {
    const bool newest = delivery.payload() == std::to_string(kOrders);
    delivery.ack();
    ++handled;
    if (newest) break;
  }
  return handled;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    sluice::Client client(argc > 1 ? argv[1] : "tcp://127.0.0.1:5570");
    subscribe_all(client);

    std::latch fast_got_all(kOrders);
    sluice::Consumer fast(client, "fast", [&](sluice::Delivery& delivery) {
      delivery.ack();
      fast_got_all.count_down();
    });
    sluice::Consumer failing(client, "failing", [](sluice::Delivery& delivery) {
      throw std::runtime_error("no stock for order " + std::string(delivery.payload()));
    });
    sluice::Consumer slow = one_at_a_time(client, "slow");

    sluice::PublishOptions to_topic;
    to_topic.to_topic = true;
    client.publish("orders.eu.placed", "1", to_topic).get();
    std::optional<sluice::Delivery> busy_with = slow.receive();  // and is, until the others have done everything
    for (int i = 2; i <= kOrders; ++i)
      client.publish_nowait(i % 2 == 0 ? "orders.eu.placed" : "orders.us.placed", std::to_string(i), to_topic);
    client.flush();  // each order is in all three queues, or this throws

    fast_got_all.wait();
    const sluice::QueueInfo failed = wait_for_dead_letters(client, "failing", kOrders);
    busy_with.value().ack();
    const int slow_got = 1 + take_rest(slow);

    const sluice::MessageList dead = client.peek("failing.dlq", 1);
    const std::uint64_t dropped = client.queue_info("slow").counters.at("dropped");
    const std::uint64_t acked = client.queue_info("fast").counters.at("acked");
    std::cout << "fast:    " << acked << " of " << kOrders << " handled\n"
              << "slow:    " << slow_got << " handled, " << dropped << " dropped as too old\n"
              << "failing: " << failed.dead << " dead letters, the first: " << dead.messages.at(0).dead.value().error
              << "\n";
    const bool as_expected = slow_got == kSlowLimit && dropped == kOrders - kSlowLimit && failed.ready == 0 &&
                             failed.counters.at("nacked") == 2 * kOrders;
    return as_expected ? 0 : 1;
  } catch (const sluice::ClientError& error) {
    std::cerr << error.what() << " (" << error.name() << ": " << error.hint() << ")\n";
    return 1;
  }
}
