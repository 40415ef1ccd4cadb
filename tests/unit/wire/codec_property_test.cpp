// Properties of the codec on random frames and random bytes.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <deque>

#include "vector_file.h"
#include "wire/codec.h"

using namespace sluice;
using namespace sluice::wire;

namespace {

template <class Frame>
std::string encoded(const Frame& frame) {
  Buffer out;
  encode(frame, out);
  return std::string(out.view());
}

// Makes random frames; keeps the bytes that their views point into.
class Random {
 public:
  std::uint64_t uint() {
    // Numbers beside the borders of formats are as likely as all others together.
    const auto any = *rc::gen::arbitrary<std::uint64_t>();
    if (flip()) return any;
    const std::uint64_t border = std::uint64_t{1} << *rc::gen::element(0, 7, 8, 16, 32, 63);
    return border - static_cast<std::uint64_t>(*rc::gen::inRange(0, 2));
  }
  std::uint64_t within(std::uint64_t min, std::uint64_t max) {
    if (flip()) return flip() ? min : max;
    return min + *rc::gen::arbitrary<std::uint64_t>() % (max - min + 1);
  }
  bool flip() { return *rc::gen::arbitrary<bool>(); }
  std::size_t count() { return *rc::gen::inRange<std::size_t>(0, 20); }
  std::size_t length() {
    return flip() ? *rc::gen::inRange<std::size_t>(0, 40) : *rc::gen::element<std::size_t>(31, 32, 255, 256, 65'536);
  }
  std::optional<std::uint64_t> maybe_uint() { return flip() ? std::nullopt : std::optional(uint()); }

  std::string text(std::size_t pieces_max = 20) {
    std::string out;
    const auto pieces = *rc::gen::inRange<std::size_t>(0, pieces_max);
    for (std::size_t i = 0; i < pieces; ++i)
      out += *rc::gen::element<std::string>("a", "Z9", "ö", "工", "🚦", "\n", "_");
    return out;
  }
  std::string bytes() {
    std::string out(length(), '\0');
    const auto first = *rc::gen::arbitrary<std::uint8_t>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(first + i * 7);
    return out;
  }
  std::string_view keep(std::string held) { return kept_.emplace_back(std::move(held)); }

  Value value(int depth) {
    switch (*rc::gen::inRange(0, depth > 0 ? 9 : 7)) {
      case 0:
        return {};
      case 1:
        return flip();
      case 2:
        return uint();
      case 3:
        return -static_cast<std::int64_t>(uint() / 2) - 1;
      case 4:
        return static_cast<double>(*rc::gen::arbitrary<std::int32_t>()) / 8;
      case 5:
        return text();
      case 6:
        return Bin{bytes()};
      case 7: {
        Array out;
        for (std::size_t i = *rc::gen::inRange<std::size_t>(0, 4); i > 0; --i) out.push_back(value(depth - 1));
        return out;
      }
      default:
        return map(depth - 1);
    }
  }
  Map map(int depth) {
    Map out;
    for (std::size_t i = *rc::gen::inRange<std::size_t>(0, depth > 2 ? 20 : 4); i > 0; --i)
      out.set(text(), value(depth));
    return out;
  }
  std::string_view headers() { return flip() ? std::string_view() : keep(encoded(Map().set(text(), text()))); }

  ErrorBody error() { return {uint(), text(), text(), flip(), flip() ? 0 : uint()}; }

  ClientFrame client_frame() {
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        return Heartbeat{};
      case 1:
        return Bye{flip() ? 0 : uint(), text()};
      case 2:
        return hello();
      case 3:
        return publish();
      case 4:
        return Consume{
            uint(), uint(), keep(text()), uint(), uint(), flip() ? keep(text()) : "", flip() ? map(2) : Map()};
      case 5:
        return Cancel{uint(), uint()};
      case 6:
        return settle();
      default:
        return Request{uint(), text(), map(5)};
    }
  }
  BrokerFrame broker_frame() {
    switch (*rc::gen::inRange(0, 11)) {
      case 0:
        return Heartbeat{};
      case 1:
        return Bye{flip() ? 0 : uint(), text()};
      case 2:
        return ErrorFrame{error(), maybe_uint()};
      case 3:
        return welcome();
      case 4:
        return confirm();
      case 5:
        return flip() ? Reply{uint(), map(5), {}} : Reply{uint(), {}, error()};
      case 6:
        return deliver();
      case 7:
        return lease_lost();
      case 8:
        return ConsumerClosed{uint(), error()};
      case 9:
        return settled();
      default:
        return Draining{uint()};
    }
  }

  Publish publish() {
    Publish out;
    out.queue = keep(text());
    for (std::size_t i = count(); i > 0; --i) {
      out.messages.push_back({keep(bytes()), headers(), flip() ? 0 : within(0, kDelayMsMax),
                              static_cast<std::uint8_t>(flip() ? 4 : within(0, 9)), flip() ? 0 : within(1, kDelayMsMax),
                              flip() ? "" : keep(std::string(within(1, kDedupKeyBytesMax), 'k'))});
    }
    out.first_sequence = within(1, UINT64_MAX - out.messages.size());
    if (flip()) out.kind = PublishKind::topic;
    return out;
  }
  Deliver deliver() {
    Deliver out{uint(), uint(), uint(), {}};
    for (std::size_t i = count(); i > 0; --i) {
      out.deliveries.push_back({uint(), uint(), keep(bytes()), headers(),
                                static_cast<std::uint8_t>(flip() ? 4 : within(0, 9)), flip() ? 0 : uint(), headers()});
    }
    return out;
  }

 private:
  Hello hello() {
    Hello out{uint(), text(), text(), flip() ? std::string(16, '\xfe') : "", {}};
    if (flip()) out.heartbeat_ms = within(100, 60'000);
    return out;
  }
  Settle settle() {
    Settle out{maybe_uint(), {}, {}};
    std::uint64_t leases_left = kSettleLeasesMax;
    for (std::size_t i = count(); i > 0 && leases_left > 0; --i) {
      Settlement item{
          static_cast<Verb>(*rc::gen::inRange(1, 6)), within(0, UINT64_MAX - kSettleLeasesMax), 0, {}, {}, {}};
      item.last_lease = item.first_lease + within(0, leases_left - 1);
      leases_left -= item.last_lease - item.first_lease + 1;
      if ((item.verb == Verb::nack || item.verb == Verb::reject) && flip()) item.reason = keep(text());
      if (item.verb == Verb::nack && flip()) item.delay_ms = within(0, kDelayMsMax);
      if (item.verb == Verb::extend && flip()) item.lease_ms = within(kLeaseMsMin, kLeaseMsMax);
      out.settlements.push_back(item);
    }
    for (std::size_t i = count(); i > 0; --i) out.grants.push_back({uint(), uint(), uint()});
    return out;
  }
  Welcome welcome() {
    Welcome out{uint(), uint(), text(), uint(), uint(), uint(), uint(), uint(), uint(), text(), uint(), {}};
    for (std::size_t i = count(); i > 0; --i) out.features.push_back(text());
    return out;
  }
  Confirm confirm() {
    Confirm out{uint(), {}, {}};
    for (std::size_t i = count(); i > 0; --i) out.accepted.push_back({uint(), uint(), uint()});
    for (std::size_t i = count(); i > 0; --i) out.refused.push_back({uint(), uint(), error()});
    return out;
  }
  LeaseLost lease_lost() {
    LeaseLost out{uint(), {}, uint()};
    for (std::size_t i = count(); i > 0; --i) out.ranges.push_back({uint(), uint()});
    return out;
  }
  Settled settled() {
    Settled out{maybe_uint(), {}};
    for (std::size_t i = count(); i > 0; --i) out.exceptions.push_back({uint(), uint(), uint()});
    return out;
  }

  std::deque<std::string> kept_;
};

void damage(std::string& bytes) {
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
    const auto byte = static_cast<char>(*rc::gen::arbitrary<std::uint8_t>());
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, 1, byte);
        break;
      case 2:
        if (at < bytes.size()) bytes.erase(at, 1);
        break;
      default:
        if (at < bytes.size()) bytes[at] = byte;
        break;
    }
  }
}

// What decodes must encode to something that decodes to the same. Compared as bytes: a map may hold NaN.
template <class Decode>
void check_stable(const std::string& bytes, Decode decode) {
  const auto decoded = decode(bytes);
  if (!decoded) {
    RC_ASSERT(!decoded.error().text.empty());
    return;
  }
  const std::string once = encoded(*decoded);
  RC_ASSERT(once.size() <= bytes.size() * 3 + 16);  // float32 becomes float64; all else gets shorter
  const auto again = decode(once);
  RC_ASSERT(again.has_value());
  RC_ASSERT(encoded(*again) == once);
}

void check_stable(const std::string& bytes) {
  check_stable(bytes, decode_client_frame);
  check_stable(bytes, decode_broker_frame);
  check_stable(bytes, decode_map);
}

}  // namespace

TEST_CASE("codec: a frame to the broker decodes to what was encoded") {
  CHECK(rc::check([] {
    for (int i = 0; i < 10; ++i) {
      Random random;
      const ClientFrame frame = random.client_frame();
      const std::string bytes = encoded(frame);
      const auto decoded = decode_client_frame(bytes);
      RC_ASSERT(decoded.has_value());
      RC_ASSERT(*decoded == frame);
    }
  }));
}

TEST_CASE("codec: a frame to the client decodes to what was encoded") {
  CHECK(rc::check([] {
    for (int i = 0; i < 10; ++i) {
      Random random;
      const BrokerFrame frame = random.broker_frame();
      const std::string bytes = encoded(frame);
      const auto decoded = decode_broker_frame(bytes);
      RC_ASSERT(decoded.has_value());
      RC_ASSERT(*decoded == frame);
    }
  }));
}

TEST_CASE("codec: the writers give the bytes of encode") {
  CHECK(rc::check([] {
    Random random;
    PublishWriter publish_writer;
    DeliverWriter deliver_writer;
    for (int i = 0; i < 5; ++i) {
      const Publish publish = random.publish();
      publish_writer.begin(publish.queue, publish.first_sequence, publish.kind);
      for (const PublishMessage& message : publish.messages) publish_writer.append(message);
      RC_ASSERT(publish_writer.finish().view() == encoded(ClientFrame(publish)));
      const Deliver deliver = random.deliver();
      deliver_writer.begin(deliver.consumer, deliver.first_lease, deliver.lease_ms);
      for (const Delivery& delivery : deliver.deliveries) deliver_writer.append(delivery);
      RC_ASSERT(deliver_writer.finish().view() == encoded(BrokerFrame(deliver)));
    }
  }));
}

TEST_CASE("codec: random bytes are refused, or mean one frame") {
  CHECK(rc::check([] {
    for (int i = 0; i < 20; ++i) {
      const auto raw = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
      check_stable(std::string(raw.begin(), raw.end()));
    }
  }));
}

TEST_CASE("codec: damaged frames are refused, or mean one frame") {
  CHECK(rc::check([] {
    for (int i = 0; i < 20; ++i) {
      Random random;
      std::string bytes = random.flip() ? encoded(random.client_frame()) : encoded(random.broker_frame());
      damage(bytes);
      check_stable(bytes);
    }
  }));
}

TEST_CASE("codec: damaged vectors are refused, or mean one frame") {
  std::vector<std::string> all;
  for (const Vector& vector : read_vectors()) {
    if (vector.bytes.size() < 4'096) all.push_back(vector.bytes);
  }
  CHECK(rc::check([&all] {
    for (int i = 0; i < 100; ++i) {
      std::string bytes = *rc::gen::elementOf(all);
      damage(bytes);
      check_stable(bytes);
    }
  }));
}
