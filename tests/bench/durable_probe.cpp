// durable_probe: what a disk takes for a write that counts, and what a confirmed publish takes beside it.
//
//   durable_probe disk DIRECTORY BYTES COUNT
//       COUNT times: write BYTES at the end of what is there, fdatasync, one after the other, in a file whose room is reserved.
//   durable_probe confirm DIRECTORY DURABLE-URL MEMORY-URL COUNT
//       COUNT times each, in turns: such a write of 4 KiB; one publish of 100 B to a broker in memory, until it is confirmed; the same to a
//       broker with a journal. In turns, so that what else the machine does meets all three.
// Prints one JSON object; times in microseconds.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <zmq.hpp>

#include "wire/codec.h"

namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::vector<double>;

constexpr std::uint64_t kFileBytes = 64 << 20;
constexpr std::uint64_t kUnit = 4 << 10;
constexpr std::size_t kBlock = 20;  // of each kind in a row

[[noreturn]] void die(std::string_view what) {
  std::fprintf(stderr, "durable_probe: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

[[noreturn]] void die_of(const std::string& call) { die(call + ": " + std::generic_category().message(errno)); }

class ReservedFile {
 public:
  explicit ReservedFile(const std::string& directory) : path_(directory + "/durable_probe.tmp") {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0) die_of("open " + path_);
    if (::posix_fallocate(fd_, 0, static_cast<off_t>(kFileBytes)) != 0 || ::fsync(fd_) != 0) die_of("reserve " + path_);
  }
  ~ReservedFile() {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  ReservedFile(const ReservedFile&) = delete;
  ReservedFile& operator=(const ReservedFile&) = delete;

  void write_and_sync(std::string_view bytes) {
    if (at_ + bytes.size() > kFileBytes) at_ = 0;
    if (::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at_)) != static_cast<ssize_t>(bytes.size()))
      die_of("pwrite " + path_);
    if (::fdatasync(fd_) != 0) die_of("fdatasync " + path_);
    at_ += bytes.size();
  }

 private:
  const std::string path_;
  int fd_ = -1;
  std::uint64_t at_ = 0;
};

// One connection that publishes one message after the other.
class Publisher {
 public:
  explicit Publisher(const std::string& url) : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.connect(url);
    sluice::wire::Hello hello;
    hello.client = "durable_probe";
    hello.heartbeat_ms = 60'000;
    send(hello);
    receive<sluice::wire::Welcome>();
  }

  void publish(std::string_view payload) {
    sluice::wire::Publish publish;
    publish.queue = "probe";
    publish.first_sequence = ++sequence_;
    publish.messages.resize(1);
    publish.messages.front().payload = payload;
    send(publish);
    const auto confirm = receive<sluice::wire::Confirm>();
    if (confirm.up_to != sequence_ || confirm.accepted.empty()) die("a publish was not accepted");
  }

 private:
  void send(const sluice::wire::ClientFrame& frame) {
    buffer_.clear();
    encode(frame, buffer_);
    socket_.send(zmq::buffer(buffer_.view()), zmq::send_flags::none);
  }

  template <class Frame>
  Frame receive() {
    for (;;) {
      zmq::message_t message;
      if (!socket_.recv(message)) die("no answer");
      auto frame = sluice::wire::decode_broker_frame(message.to_string_view());
      if (!frame) die(frame.error().text);
      if (auto* wanted = std::get_if<Frame>(&*frame)) return std::move(*wanted);
      if (!std::holds_alternative<sluice::wire::Heartbeat>(*frame)) die("another answer than was asked for");
    }
  }

  zmq::context_t context_;
  zmq::socket_t socket_;
  sluice::wire::Buffer buffer_;
  std::uint64_t sequence_ = 0;
};

template <class Step>
void timed(Micros& times, std::size_t count, Step step) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = Clock::now();
    step();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
}

double part(Micros& times, std::size_t percent) {
  std::sort(times.begin(), times.end());
  return times[times.size() * percent / 100];
}

double rate(const Micros& times) {
  double sum = 0;
  for (const double time : times) sum += time;
  return 1e6 * static_cast<double>(times.size()) / sum;
}

std::uint64_t number(const char* text) {
  const std::string_view view(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(view.begin(), view.end(), value);
  if (error != std::errc() || end != view.end() || value == 0) die(std::string("no number: ") + text);
  return value;
}

void disk(const std::string& directory, std::uint64_t bytes, std::uint64_t count) {
  if (bytes > kFileBytes) die("more bytes than the file has");
  ReservedFile file(directory);
  const std::string block(bytes, 'x');
  Micros times;
  timed(times, count, [&] { file.write_and_sync(block); });
  const double a_second = rate(times);
  std::printf("{\"bytes\": %llu, \"p50_us\": %.1f, \"p99_us\": %.1f, \"rate\": %.1f, \"bytes_a_second\": %.0f}\n",
              static_cast<unsigned long long>(bytes), part(times, 50), part(times, 99), a_second,
              a_second * static_cast<double>(bytes));
}

void confirm(const std::string& directory, const std::string& durable_url, const std::string& memory_url,
             std::uint64_t count) {
  ReservedFile file(directory);
  Publisher durable(durable_url);
  Publisher memory(memory_url);
  const std::string block(kUnit, 'x');
  const std::string payload(100, 'x');
  Micros syncs;
  Micros in_memory;
  Micros confirmed;
  while (confirmed.size() < count) {
    timed(syncs, kBlock, [&] { file.write_and_sync(block); });
    timed(in_memory, kBlock, [&] { memory.publish(payload); });
    timed(confirmed, kBlock, [&] { durable.publish(payload); });
  }
  std::printf("{\"sync_p50_us\": %.1f, \"memory_p50_us\": %.1f, \"durable_p50_us\": %.1f, ", part(syncs, 50),
              part(in_memory, 50), part(confirmed, 50));
  std::printf("\"sync_p99_us\": %.1f, \"memory_p99_us\": %.1f, \"durable_p99_us\": %.1f}\n", part(syncs, 99),
              part(in_memory, 99), part(confirmed, 99));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "disk" && argc == 5) {
    disk(argv[2], number(argv[3]), number(argv[4]));
  } else if (mode == "confirm" && argc == 6) {
    confirm(argv[2], argv[3], argv[4], number(argv[5]));
  } else {
    die("durable_probe disk DIRECTORY BYTES COUNT | confirm DIRECTORY DURABLE-URL MEMORY-URL COUNT");
  }
}
