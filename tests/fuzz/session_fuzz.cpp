// Fuzzes the broker as its peers see it: sessions, engine and outbox behind a fake network and clock.
//
// An input is a script of steps: one byte (bits 0-1 the peer, bits 2-4 what happens), two bytes of a number (little-endian), and for
// a frame that many bytes. Whatever the script: nothing crashes, every frame that a peer is sent can be decoded, and in every
// queue what entered is there or has left by a counted way.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"
#include "running.h"

namespace {

using sluice::server::Running;
namespace wire = sluice::wire;

constexpr int kWatcher = 4;  // a peer of ours, who asks at the end

std::string route(unsigned peer) { return std::string(1, static_cast<char>('a' + peer)); }

class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

  bool step(Running& running) {
    if (left_.size() < 3) return false;
    const auto head = static_cast<std::uint8_t>(left_[0]);
    const unsigned number =
        static_cast<std::uint8_t>(left_[1]) | static_cast<unsigned>(static_cast<std::uint8_t>(left_[2])) << 8U;
    left_.remove_prefix(3);
    const unsigned peer = head & 3U;
    switch ((head >> 2U) & 7U) {
      case 3:
        running.clock.pass(number);
        break;
      case 4:
        running.router.next_events.closed.push_back(static_cast<int>(peer));
        break;
      case 5:
        running.router.full.insert(route(peer));
        break;
      case 6:
        running.router.full.erase(route(peer));
        break;
      case 7:
        running.router.put_bytes(route(peer), std::string(take(number)), static_cast<int>(peer), 2);
        break;
      default:
        running.router.put_bytes(route(peer), std::string(take(number)), static_cast<int>(peer));
        break;
    }
    return true;
  }

 private:
  std::string_view take(std::size_t count) {
    const std::string_view bytes = left_.substr(0, count);
    left_.remove_prefix(bytes.size());
    return bytes;
  }
  std::string_view left_;
};

void check_sent(Running& running) {
  for (auto& [to, frames] : running.router.sent) {
    for (const std::string& bytes : frames) SLUICE_CHECK(wire::decode_broker_frame(bytes).has_value());
    frames.clear();
  }
}

std::uint64_t number(const wire::Map& map, std::string_view key) { return *map.find(key)->get_if<std::uint64_t>(); }

void check_conservation(Running& running) {
  const std::string watcher = route(kWatcher);
  running.hello(watcher);
  running.router.put(watcher, wire::Request{1, "queue.list", {}});
  running.settle();
  const wire::Map result = *running.router.take_one<wire::Reply>(watcher).result;
  for (const wire::Value& value : *result.find("queues")->get_if<wire::Array>()) {
    const wire::Map& queue = *value.get_if<wire::Map>();
    const wire::Map& counters = *queue.find("counters")->get_if<wire::Map>();
    std::uint64_t accounted = number(queue, "ready") + number(queue, "delayed") + number(queue, "leased");
    for (const char* way : {"acked", "dead_lettered", "dropped", "expired", "purged", "replayed_out"})
      accounted += number(counters, way);
    SLUICE_CHECK(number(counters, "enqueued") == accounted);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Running running;
  Script script(data, size);
  while (script.step(running)) {
    running.settle();
    check_sent(running);
  }
  running.router.full.clear();
  check_conservation(running);
  return 0;
}
