// raw_forwarder: what the transport alone can do. A ROUTER that passes messages on, a DEALER that sends and one that receives, each in a
// process of its own over loopback TCP, without a line of Sluice: the limit that the broker's figures are compared with.
//
//   raw_forwarder [--messages N] [--size BYTES] [--frame N] [--rate N --seconds S]
//
// --frame N joins N messages (each behind its 4-byte length) into one ZeroMQ message. With --rate, one message a frame is sent at fixed
// times, and the latency is that from the intended send time to the receipt. Without, as fast as a window of 65,536 messages allows: the
// receiver gives credit back through the forwarder, so that nothing is queued without bound and nothing is lost.
// Prints one JSON object.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kWindow = 65'536;
constexpr std::uint64_t kCreditEvery = kWindow / 8;
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::size_t kAddressBytes = 128;
constexpr std::string_view kReady = "ready";
constexpr std::string_view kEnd = "end";

struct Options {
  std::uint64_t messages = 5'000'000;
  std::uint64_t size = 100;
  std::uint64_t frame = 1;
  std::uint64_t rate = 0;
  std::uint64_t seconds = 5;
};

// What the receiver measured, as it goes through its pipe.
struct Measured {
  std::uint64_t messages = 0;
  std::uint64_t started_ns = 0;
  std::uint64_t ended_ns = 0;
  std::uint64_t p50_ns = 0, p90_ns = 0, p99_ns = 0, p999_ns = 0, max_ns = 0;
};

std::uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "raw_forwarder: %s: %s\n", what, zmq_strerror(errno));
  std::exit(1);
}

int demand(int result, const char* what) {
  if (result < 0) die(what);
  return result;
}

// One context and one socket: all that a process here has.
class Socket {
 public:
  explicit Socket(int type) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, type)) {
    if (socket_ == nullptr) die("zmq_socket");
    set(ZMQ_SNDHWM, 0);
    set(ZMQ_RCVHWM, 0);
    set(ZMQ_LINGER, -1);
  }
  ~Socket() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void* get() const { return socket_; }
  void set(int option, int value) { demand(zmq_setsockopt(socket_, option, &value, sizeof value), "zmq_setsockopt"); }
  void connect(const std::string& address) { demand(zmq_connect(socket_, address.c_str()), "zmq_connect"); }
  void send(std::string_view bytes) { demand(zmq_send(socket_, bytes.data(), bytes.size(), 0), "zmq_send"); }

 private:
  void* context_;
  void* socket_;
};

class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  ~Message() { zmq_msg_close(&message_); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  bool receive(const Socket& socket, int flags = 0) {
    if (zmq_msg_recv(&message_, socket.get(), flags) >= 0) return true;
    if (errno != EAGAIN) die("zmq_msg_recv");
    return false;
  }
  void send(const Socket& socket, int flags = 0) {
    demand(zmq_msg_send(&message_, socket.get(), flags), "zmq_msg_send");
  }
  std::string_view view() { return {static_cast<const char*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)}; }

 private:
  zmq_msg_t message_;
};

void wait_readable(const Socket& socket) {
  zmq_pollitem_t item{socket.get(), 0, ZMQ_POLLIN, 0};
  demand(zmq_poll(&item, 1, -1), "zmq_poll");
}

// --- The forwarder: what the receiver sends goes to the sender, everything else to the receiver.

struct Peers {
  std::string sender;
  std::string receiver;
};

// Both say who they are, in whichever order they come.
Peers meet(const Socket& socket) {
  Peers peers;
  while (peers.sender.empty() || peers.receiver.empty()) {
    Message identity;
    Message body;
    identity.receive(socket);
    body.receive(socket);
    (body.view() == "receiver" ? peers.receiver : peers.sender) = std::string(identity.view());
  }
  return peers;
}

void tell(const Socket& socket, const std::string& peer, std::string_view text) {
  demand(zmq_send(socket.get(), peer.data(), peer.size(), ZMQ_SNDMORE), "zmq_send");
  demand(zmq_send(socket.get(), text.data(), text.size(), 0), "zmq_send");
}

void forward(int address_pipe) {
  Socket socket(ZMQ_ROUTER);
  socket.set(ZMQ_ROUTER_MANDATORY, 1);
  demand(zmq_bind(socket.get(), "tcp://127.0.0.1:*"), "zmq_bind");
  std::array<char, kAddressBytes> address{};
  std::size_t length = address.size();
  demand(zmq_getsockopt(socket.get(), ZMQ_LAST_ENDPOINT, address.data(), &length), "zmq_getsockopt");
  if (write(address_pipe, address.data(), address.size()) != static_cast<ssize_t>(address.size())) die("write");
  const Peers peers = meet(socket);
  tell(socket, peers.receiver, kReady);
  tell(socket, peers.sender, kReady);
  while (true) {
    Message identity;
    Message body;
    if (!identity.receive(socket, ZMQ_DONTWAIT)) {
      wait_readable(socket);
      continue;
    }
    body.receive(socket);
    const bool from_receiver = identity.view() == peers.receiver;
    if (from_receiver && body.view() == kEnd) {
      tell(socket, peers.sender, kEnd);
      return;
    }
    const std::string& target = from_receiver ? peers.sender : peers.receiver;
    demand(zmq_send(socket.get(), target.data(), target.size(), ZMQ_SNDMORE), "zmq_send");
    body.send(socket);
  }
}

void join(Socket& socket, const std::string& address, std::string_view role) {
  socket.connect(address);
  socket.send(role);
  Message answer;
  answer.receive(socket);
  if (answer.view() != kReady) die("not told to begin");
}

// --- The sender.

void stamp(std::string& frame, std::size_t at, std::uint64_t ns) { std::memcpy(frame.data() + at, &ns, sizeof ns); }

std::string frame_of(const Options& options, std::uint64_t messages) {
  std::string frame;
  if (options.frame == 1) return std::string(options.size, 'x');
  const auto length = static_cast<std::uint32_t>(options.size);
  for (std::uint64_t i = 0; i < messages; ++i) {
    frame.append(reinterpret_cast<const char*>(&length), kLengthBytes);
    frame.append(options.size, 'x');
  }
  return frame;
}

std::uint64_t credit_in(std::string_view body) {
  std::uint64_t credit = 0;
  if (body.size() == sizeof credit) std::memcpy(&credit, body.data(), sizeof credit);
  return credit;
}

void send_windowed(Socket& socket, const Options& options) {
  std::string frame = frame_of(options, options.frame);
  std::uint64_t window = kWindow;
  for (std::uint64_t sent = 0; sent < options.messages;) {
    const std::uint64_t count = std::min(options.frame, options.messages - sent);
    if (count < options.frame) frame = frame_of(options, count);
    Message credit;
    while (window < count) {
      credit.receive(socket);
      window += credit_in(credit.view());
    }
    stamp(frame, options.frame == 1 ? 0 : kLengthBytes, now_ns());
    socket.send(frame);
    sent += count;
    window -= count;
  }
}

void send_paced(Socket& socket, const Options& options) {
  prctl(PR_SET_TIMERSLACK, 1);  // ns; by default the kernel may wake us 50 us late
  std::string frame = frame_of(options, 1);
  const std::uint64_t started = now_ns();
  const std::uint64_t interval = 1'000'000'000 / options.rate;
  for (std::uint64_t i = 0; i < options.messages; ++i) {
    const std::uint64_t intended = started + i * interval;
    const std::chrono::nanoseconds at(static_cast<std::int64_t>(intended));
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(at));
    stamp(frame, 0, intended);
    socket.send(frame);
  }
}

void send_all(const std::string& address, const Options& options) {
  Socket socket(ZMQ_DEALER);
  join(socket, address, "sender");
  if (options.rate > 0) {
    send_paced(socket, options);
  } else {
    send_windowed(socket, options);
  }
  Message message;
  do {
    message.receive(socket);  // credit still on its way
  } while (message.view() != kEnd);
}

// --- The receiver.

// The messages in a frame, each touched as a user would.
std::uint64_t count_in(std::string_view body, const Options& options) {
  if (options.frame == 1) return 1;
  std::uint64_t count = 0;
  while (body.size() >= kLengthBytes) {
    std::uint32_t length = 0;
    std::memcpy(&length, body.data(), kLengthBytes);
    if (length > body.size() - kLengthBytes) die("a frame that is cut");
    body.remove_prefix(kLengthBytes + length);
    ++count;
  }
  return count;
}

void set_latencies(Measured& measured, std::vector<std::uint64_t>& latencies) {
  if (latencies.empty()) return;
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](std::uint64_t per_mille) { return latencies[(latencies.size() - 1) * per_mille / 1'000]; };
  measured.p50_ns = at(500);
  measured.p90_ns = at(900);
  measured.p99_ns = at(990);
  measured.p999_ns = at(999);
  measured.max_ns = latencies.back();
}

void receive_all(const std::string& address, const Options& options, int result_pipe) {
  Socket socket(ZMQ_DEALER);
  join(socket, address, "receiver");
  Measured measured;
  std::vector<std::uint64_t> latencies;
  latencies.reserve(options.messages / options.frame + 1);
  std::uint64_t owed = 0;
  const std::size_t stamp_at = options.frame == 1 ? 0 : kLengthBytes;
  while (measured.messages < options.messages) {
    Message body;
    body.receive(socket);
    std::uint64_t sent_ns = 0;
    std::memcpy(&sent_ns, body.view().data() + stamp_at, sizeof sent_ns);
    latencies.push_back(now_ns() - sent_ns);
    if (measured.messages == 0) measured.started_ns = sent_ns;
    const std::uint64_t count = count_in(body.view(), options);
    measured.messages += count;
    owed += count;
    if (owed >= kCreditEvery) {
      socket.send({reinterpret_cast<const char*>(&owed), sizeof owed});
      owed = 0;
    }
  }
  measured.ended_ns = now_ns();
  socket.send(kEnd);
  set_latencies(measured, latencies);
  if (write(result_pipe, &measured, sizeof measured) != static_cast<ssize_t>(sizeof measured)) die("write");
}

// --- All together.

template <class Work>
pid_t start(const Work& work) {
  const pid_t child = demand(fork(), "fork");
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  work();
  std::exit(0);
}

// One that fails leaves the others waiting for ever: they are ended with it.
bool all_end_well(const std::array<pid_t, 3>& children) {
  for (std::size_t left = children.size(); left > 0; --left) {
    int status = 0;
    if (wait(&status) > 0 && status == 0) continue;
    for (const pid_t child : children) kill(child, SIGKILL);
    return false;
  }
  return true;
}

// Reads one thing of a pipe whole.
template <class Thing>
void read_whole(int pipe_end, Thing& thing) {
  if (read(pipe_end, &thing, sizeof thing) != static_cast<ssize_t>(sizeof thing)) die("a process ended early");
}

void print(const Options& options, const Measured& measured) {
  const double seconds = static_cast<double>(measured.ended_ns - measured.started_ns) / 1e9;
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  std::printf(
      "{\"messages\":%llu,\"size_bytes\":%llu,\"frame\":%llu,\"wanted_rate\":%llu,\"seconds\":%.6f,\"rate\":%.1f,"
      "\"latency_us\":{\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f}}\n",
      static_cast<unsigned long long>(measured.messages), static_cast<unsigned long long>(options.size),
      static_cast<unsigned long long>(options.frame), static_cast<unsigned long long>(options.rate), seconds,
      static_cast<double>(measured.messages) / seconds, us(measured.p50_ns), us(measured.p90_ns), us(measured.p99_ns),
      us(measured.p999_ns), us(measured.max_ns));
}

[[noreturn]] void usage(const std::string& why) {
  std::fprintf(stderr,
               "raw_forwarder: %s; flags: --messages N --size BYTES (8 or more) --frame N --rate N --seconds S\n",
               why.c_str());
  std::exit(2);
}

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string_view flag = words[i];
    if (i + 1 >= count) usage("no value for " + std::string(flag));
    const std::string_view text = words[i + 1];
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0)
      usage("not a number above 0: " + std::string(text));
    if (flag == "--messages") {
      options.messages = value;
    } else if (flag == "--size") {
      options.size = value;
    } else if (flag == "--frame") {
      options.frame = value;
    } else if (flag == "--rate") {
      options.rate = value;
    } else if (flag == "--seconds") {
      options.seconds = value;
    } else {
      usage("unknown flag " + std::string(flag));
    }
  }
  if (options.size < sizeof(std::uint64_t) || options.frame > kWindow / 2)
    usage("a size below 8, or a frame beyond the window");
  if (options.rate > 0 && options.frame > 1) usage("--rate sends one message a frame");
  if (options.rate > 0) options.messages = options.rate * options.seconds;
  return options;
}

}  // namespace

int main(int count, char** words) {
  const Options options = read_options(count, words);
  std::array<int, 2> address_pipe{};
  std::array<int, 2> result_pipe{};
  demand(pipe(address_pipe.data()), "pipe");
  demand(pipe(result_pipe.data()), "pipe");
  // Every process makes its own ZeroMQ context, after the fork.
  std::array<pid_t, 3> children{};
  children[0] = start([&] { forward(address_pipe[1]); });
  std::array<char, kAddressBytes> address{};
  close(address_pipe[1]);
  read_whole(address_pipe[0], address);
  children[1] = start([&] { receive_all(address.data(), options, result_pipe[1]); });
  children[2] = start([&] { send_all(address.data(), options); });
  close(result_pipe[1]);
  if (!all_end_well(children)) return 1;
  Measured measured;
  read_whole(result_pipe[0], measured);
  print(options, measured);
  return 0;
}
