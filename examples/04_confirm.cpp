// 04_confirm: three ways to learn what became of a publish, and what a full queue answers.
//
//   example_04_confirm [URL]

#include <atomic>
#include <future>
#include <iostream>
#include <latch>
#include <vector>

#include "sluice/client.h"

namespace {

constexpr int kLimit = 10;

// A future each: the simplest.
int publish_with_futures(sluice::Client& client) {
  std::vector<std::future<sluice::Receipt>> receipts;
  for (int i = 0; i < kLimit + 2; ++i) receipts.push_back(client.publish("small", "x"));
  int refused = 0;
  for (std::future<sluice::Receipt>& receipt : receipts) {
    try {
      receipt.get();
    } catch (const sluice::ClientError& error) {
      ++refused;
      std::cout << "refused: " << error.name() << (error.retry() ? ", can be tried again later\n" : "\n");
    }
  }
  return refused;
}

// A callback each: runs on the client's callback thread, once a publish.
int publish_with_callbacks(sluice::Client& client) {
  std::atomic<int> accepted = 0;
  std::latch decided(kLimit);
  for (int i = 0; i < kLimit; ++i) {
    client.publish("small", "x", {}, [&](const sluice::Receipt* receipt, const sluice::ClientError*) {
      if (receipt != nullptr) ++accepted;
      decided.count_down();
    });
  }
  decided.wait();
  return accepted;
}

// No answer each: the fastest. flush() throws the first error.
bool publish_and_flush(sluice::Client& client) {
  for (int i = 0; i < kLimit + 1; ++i) client.publish_nowait("small", "x");
  try {
    client.flush();
    return false;
  } catch (const sluice::ClientError& error) {
    std::cout << "flush: " << error.name() << "\n";
    return error.name() == "queue_full";
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    sluice::Client client(argc > 1 ? argv[1] : "tcp://127.0.0.1:5570");
    sluice::QueuePolicy policy;
    policy.max_messages = kLimit;
    client.declare_queue("small", policy);

    const int refused = publish_with_futures(client);
    client.purge_queue("small");
    const int accepted = publish_with_callbacks(client);
    client.purge_queue("small");
    const bool told = publish_and_flush(client);

    std::cout << refused << " of " << kLimit + 2 << " refused, then " << accepted << " of " << kLimit << " accepted\n";
    return refused == 2 && accepted == kLimit && told ? 0 : 1;
  } catch (const sluice::ClientError& error) {
    std::cerr << error.what() << " (" << error.name() << ": " << error.hint() << ")\n";
    return 1;
  }
}
