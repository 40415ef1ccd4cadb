// 03_retry_and_dead_letters: a message that fails is tried again, later and later, and in the end kept with the error.
// After the cause is mended it is replayed.
//
//   example_03_retry_and_dead_letters [URL]

#include <atomic>
#include <iostream>
#include <latch>
#include <stdexcept>
#include <thread>

#include "sluice/client.h"
#include "sluice/consumer.h"

namespace {

// Administration is a question and an answer: the queue is asked until it has so many dead letters.
sluice::QueueInfo wait_for_dead_letters(sluice::Client& client, std::uint64_t count) {
  sluice::QueueInfo info = client.queue_info("orders");
  while (info.dead < count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    info = client.queue_info("orders");
  }
  return info;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    sluice::Client client(argc > 1 ? argv[1] : "tcp://127.0.0.1:5570");

    sluice::QueuePolicy policy;
    policy.max_attempts = 3;
    policy.backoff.initial_ms = 20;  // 20 ms, 40 ms, ...
    client.declare_queue("orders", policy);

    std::atomic<bool> mended = false;
    std::atomic<int> attempts = 0;
    std::latch handled(1);
    sluice::Consumer consumer(client, "orders", [&](sluice::Delivery& delivery) {
      ++attempts;
      std::cout << "attempt " << delivery.attempts() + 1 << " at " << delivery.payload() << "\n";
      if (!mended) throw std::runtime_error("the warehouse does not answer");
      delivery.ack();
      handled.count_down();
    });

    client.publish("orders", "order 17").get();
    wait_for_dead_letters(client, 1);

    const sluice::MessageList dead = client.peek("orders.dlq");
    for (const sluice::MessageInfo& message : dead.messages) {
      if (!message.dead) continue;
      std::cout << "dead letter " << message.id << ": " << message.payload << ", " << message.dead->reason << ": "
                << message.dead->error << "\n";
    }

    mended = true;
    const sluice::ReplayResult replay = client.replay("orders.dlq");
    std::cout << replay.replayed << " replayed\n";
    handled.wait();
    consumer.close();

    const bool as_expected = attempts == 4 && replay.replayed == 1 && dead.messages.size() == 1 &&
                             dead.messages[0].dead && dead.messages[0].dead->error == "the warehouse does not answer";
    return as_expected ? 0 : 1;
  } catch (const sluice::ClientError& error) {
    std::cerr << error.what() << " (" << error.name() << ": " << error.hint() << ")\n";
    return 1;
  }
}
