// 01_hello: one message goes through a broker.
//
//   sluiced &                      # the broker, on tcp://127.0.0.1:5570
//   example_01_hello [URL]

#include <iostream>

#include "sluice/client.h"
#include "sluice/consumer.h"

int main(int argc, char** argv) {
  try {
    sluice::Client client(argc > 1 ? argv[1] : "tcp://127.0.0.1:5570");

    // Publishing makes the queue. The future is ready when the broker has the message.
    const sluice::Receipt receipt = client.publish("hello", "hello, world").get();
    std::cout << "published as message " << receipt.message_id << "\n";

    sluice::Consumer consumer(client, "hello");
    std::optional<sluice::Delivery> delivery = consumer.receive(std::chrono::seconds(5));
    if (!delivery) {
      std::cerr << "nothing came\n";
      return 1;
    }
    std::cout << "received message " << delivery->id() << ": " << delivery->payload() << "\n";
    delivery->ack();  // done: the broker forgets the message

    consumer.close();
    client.close();  // the ack is sent
    return 0;
  } catch (const sluice::ClientError& error) {
    std::cerr << error.what() << " (" << error.name() << ": " << error.hint() << ")\n";
    return 1;
  }
}
