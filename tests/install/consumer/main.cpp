// A downstream program: compiles against the installed headers alone, links, and meets a typed error where no broker is.

#include <sluice/client.h>
#include <sluice/consumer.h>
#include <sluice/error.h>

#include <cstdio>
#include <string>

int main() {
  sluice::ClientOptions options;
  options.connect_timeout = sluice::Milliseconds(200);
  try {
    sluice::Client client("tcp://127.0.0.1:1", options);
    client.publish_nowait("jobs", "hello");
    const sluice::Consumer consumer(client, "jobs", [](sluice::Delivery& delivery) { delivery.ack(); });
    std::puts("a broker on port 1?");
    return 1;
  } catch (const sluice::ClientError& error) {
    std::printf("%s\n", error.name().c_str());
    return error.code() == sluice::kErrorNotConnected ? 0 : 1;
  }
}
