// 02_worker: three workers share a queue; each handles one message at a time on a thread of its own.
//
//   example_02_worker [URL]

#include <atomic>
#include <iostream>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "sluice/client.h"
#include "sluice/consumer.h"

namespace {

constexpr int kJobs = 300;
constexpr int kWorkers = 3;

}  // namespace

int main(int argc, char** argv) {
  try {
    sluice::Client client(argc > 1 ? argv[1] : "tcp://127.0.0.1:5570");

    std::latch left(kJobs);
    std::atomic<long> sum = 0;
    const auto work = [&](sluice::Delivery& delivery) {
      sum += std::stol(
          std::string(delivery.payload()));  // what a handler throws nacks the message, with the text as the reason
      delivery.ack();
      left.count_down();
    };

    // A small prefetch, so that no worker hoards what another could do.
    sluice::ConsumeOptions options;
    options.prefetch = 8;
    std::vector<std::unique_ptr<sluice::Consumer>> workers;
    for (int i = 0; i < kWorkers; ++i)
      workers.push_back(std::make_unique<sluice::Consumer>(client, "numbers", work, options));

    for (int i = 1; i <= kJobs; ++i) client.publish_nowait("numbers", std::to_string(i));
    client.flush();  // all are confirmed, or this throws
    left.wait();

    workers.clear();  // closes them: what was prefetched and not begun goes back
    std::cout << kWorkers << " workers summed " << kJobs << " numbers to " << sum << "\n";
    return sum == kJobs * (kJobs + 1) / 2 ? 0 : 1;
  } catch (const sluice::ClientError& error) {
    std::cerr << error.what() << " (" << error.name() << ": " << error.hint() << ")\n";
    return 1;
  }
}
