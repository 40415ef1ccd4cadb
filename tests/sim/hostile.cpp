#include "hostile.h"

#include <utility>

namespace sluice::sim {

Hostile::Hostile(Stage& stage, std::string name, std::uint64_t salt) : Client(stage, std::move(name), salt) {
  world_.after(random_.below(kSecond), [this] { tick(); });
}

void Hostile::on_open(const wire::Welcome&) {}

std::string Hostile::broken_frame() {
  wire::Buffer buffer;
  wire::Settle settle;
  settle.request = random_.below(100);
  settle.settlements.push_back({wire::Verb::ack, 1 + random_.below(1'000), 1 + random_.below(1'000), "why", {}, {}});
  wire::encode(wire::ClientFrame(settle), buffer);
  std::string bytes(buffer.view());
  switch (random_.below(5)) {
    case 0:
      bytes.assign(random_.below(60), '\0');
      for (char& byte : bytes) byte = static_cast<char>(random_.below(256));
      return bytes;
    case 1:
      return bytes.substr(0, random_.below(bytes.size()));
    case 2:
      return std::string("\xdd\xff\xff\xff\xff", 5);
    case 3:
      return std::string(random_.below(2'000), '\x91');
    default:
      // Not the type: a frame of another type might be a good one.
      bytes[2 + random_.below(bytes.size() - 2)] = static_cast<char>(random_.below(256));
      return bytes;
  }
}

void Hostile::tick() {
  if (stage_.calm) return;
  world_.after(random_.between(kMs, 200 * kMs), [this] { tick(); });
  if (link() == nullptr) return;
  if (marked_ != link()->id) {
    marked_ = link()->id;
    stage_.oracle.is_hostile(*link());
  }
  world_.hit(Mark::hostile_frames);
  switch (random_.below(6)) {
    case 0: {
      wire::Settle forged;
      const std::uint64_t lease = 1 + random_.below(5'000);
      forged.request = 1'000 + next_request();
      forged.settlements.push_back({wire::Verb::ack, lease, lease + random_.below(3), {}, {}, {}});
      return send(forged);
    }
    case 1: {
      wire::Settle greedy;
      greedy.grants.push_back({1 + random_.below(3), ~std::uint64_t{0}, ~std::uint64_t{0}});
      return send(greedy);
    }
    case 2:
      return send_bytes(broken_frame(), 1 + random_.below(3));
    case 3:
      if (random_.chance(10)) leave();
      return;
    default:
      return send_bytes(broken_frame());
  }
}

}  // namespace sluice::sim
