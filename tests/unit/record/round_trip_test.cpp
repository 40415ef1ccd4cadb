// What is written is read as it was.

#include <doctest/doctest.h>

#include "samples.h"

using namespace sluice::record;

namespace {

template <class T>
void check_round_trip(const T& record) {
  const std::string bytes = encode({record});
  const Decoded decoded = decode(bytes);
  REQUIRE(decoded.error == "");
  REQUIRE(decoded.records.size() == 1);
  CHECK(std::get<T>(decoded.records[0]) == record);
}

const std::string kLarge(1 << 20, '\xee');

}  // namespace

TEST_CASE("records: each type comes back, with its numbers at 0 and at 2^64-1 and its texts empty and of 1 MiB") {
  check_round_trip(Marks{});
  check_round_trip(Marks{kMax, kMax, kMax, kMax, kMax});
  check_round_trip(Queue{});
  check_round_trip(Queue{kMax, kLarge, true, true, false,
                         Policy{kMax, kMax, kMax, 1.5, kMax, 1e300, kMax, kMax, Overflow::dead_letter_oldest, kMax,
                                kMax, OnExpiry::drop, kMax, kMax},
                         std::vector<std::uint64_t>(100, kMax)});
  check_round_trip(Queue{1, "jobs", true, false, true, {}, {1, 2, 3}});
  check_round_trip(Queue{1, "jobs", false, true, true, {}, {}});
  check_round_trip(QueueDeleted{kMax});
  check_round_trip(Bound{});
  check_round_trip(Bound{kMax, kLarge});
  check_round_trip(Unbound{kMax, kLarge});
  check_round_trip(Delivered{0, 0, kMax});
  check_round_trip(Delivered{kMax, kMax, 1});
  for (const How how : {How::acked, How::purged, How::dropped, How::expired}) check_round_trip(Ended{how, 3, 4});
  for (const Cause cause : {Cause::nack, Cause::lease_ran_out, Cause::holder_gone, Cause::release, Cause::reject}) {
    check_round_trip(Returned{kMax, cause, true, kMax, kLarge});
    check_round_trip(Returned{0, cause, false, 0, {}});
    check_round_trip(DeadLettered{kMax, cause, kMax, kMax, Reason::rejected, kLarge, kMax, kLarge});
  }
  for (const Reason reason : {Reason::rejected, Reason::attempts, Reason::overflow, Reason::expired})
    check_round_trip(DeadLettered{1, Cause::none, 2, 3, reason, {}, 4, {}});
  check_round_trip(Replayed{kMax, 1, kMax});
  check_round_trip(Producer{});
  check_round_trip(Producer{kMax, kLarge, kMax, {{kMax, kMax, 1}, {0, 0, kMax}}, {{kMax, 1, kMax, kLarge}}});
  check_round_trip(Refused{kMax, {0, kMax, kMax, "full"}});
  check_round_trip(ProducerGone{kMax});
  check_round_trip(DedupKey{0, kLarge, kMax, kMax});
  check_round_trip(Opened{kMax});
  check_round_trip(Closed{0});
  check_round_trip(Accepted{kMax, {kMax, 0, 1}});
}

TEST_CASE("records: a run of published messages comes back, and each offset is where its body stands") {
  RecordWriter out;
  out.opened(1);
  out.begin_published(7, kMax - 3, 20, 30, kMax, 40);
  std::vector<std::size_t> offsets;
  std::vector<PublishedMessage> written = {{},
                                           {0, kMax, 0, {}, {{}, "p", 0}},
                                           {9, 0, kMax, "key", {"headers", {}, 0}},
                                           {4, 1, 1, kLarge, {kLarge, kLarge, 0}}};
  for (const PublishedMessage& message : written) {
    offsets.push_back(out.add_message(message.priority, message.due_ms, message.expires_ms, message.dedup_key,
                                      message.body.headers, message.body.payload));
  }
  out.end_published();
  out.closed(2);
  const std::string bytes = to_string(out.bytes());
  const Decoded decoded = decode(bytes);
  REQUIRE(decoded.error == "");
  REQUIRE(decoded.records.size() == 3);
  const auto& run = std::get<Published>(decoded.records[1]);
  CHECK(run.queue == 7);
  CHECK(run.first_key == kMax - 3);
  CHECK(run.first_id == 20);
  CHECK(run.published_ms == 30);
  CHECK(run.producer == kMax);
  CHECK(run.first_sequence == 40);
  REQUIRE(run.messages.size() == written.size());
  std::size_t i = 0;
  for (const PublishedMessage& message : run.messages) {
    CHECK(message == written[i]);
    CHECK(message.body.offset == offsets[i]);
    const Body& body = written[i].body;
    CHECK(bytes.substr(offsets[i], body.headers.size() + body.payload.size()) ==
          std::string(body.headers) + std::string(body.payload));
    ++i;
  }
  CHECK(i == written.size());
  CHECK(std::get<Closed>(decoded.records[2]).at_ms == 2);
}

TEST_CASE("records: a message with copies comes back, and its offset is where its body stands") {
  Message message{kMax, kMax, 9, kMax, kMax, "a.topic", "key", {"headers", kLarge, 0}, {}};
  std::vector<Copy> copies(3);
  copies[1] = {kMax, kMax, kMax, State::delayed, kMax, kMax, true, false, {1, 2, 3, 4, 5, kMax}, kLarge, {}};
  copies[2] = {
      1, 2, 3, State::leased, 0, 0, false, true, {}, {}, Death{Reason::expired, "jobs", kMax, {6, 5, 4, 3, 2, 1}}};
  RecordWriter out;
  out.closed(1);
  const std::size_t offset = out.message(message, copies);
  const std::string bytes = to_string(out.bytes());
  const Decoded decoded = decode(bytes);
  REQUIRE(decoded.error == "");
  const auto& read = std::get<Message>(decoded.records.at(1));
  CHECK(read.id == message.id);
  CHECK(read.published_ms == message.published_ms);
  CHECK(read.priority == message.priority);
  CHECK(read.producer == message.producer);
  CHECK(read.sequence == message.sequence);
  CHECK(read.topic == message.topic);
  CHECK(read.dedup_key == message.dedup_key);
  CHECK(read.body == message.body);
  CHECK(read.body.offset == offset);
  CHECK(bytes.substr(offset, 7) == "headers");
  REQUIRE(read.copies.size() == 3);
  std::size_t i = 0;
  for (const Copy& copy : read.copies) CHECK(copy == copies[i++]);
  CHECK(i == 3);
}

TEST_CASE("records: a death of one copy is not one of the next") {
  std::vector<Copy> copies(2);
  copies[0].death = Death{};
  RecordWriter out;
  out.message({}, copies);
  std::vector<bool> dead;
  const std::string bytes = to_string(out.bytes());
  RecordReader reader(as_bytes(bytes));
  const auto record = reader.next();
  for (const Copy& copy : std::get<Message>(*record).copies) dead.push_back(copy.death.has_value());
  CHECK(dead == std::vector{true, false});
}

TEST_CASE("records: a writer is used again after clear(), also inside of a run") {
  RecordWriter out;
  out.begin_published(1, 1, 1, 1, 0, 0);
  out.add_message(4, 0, 0, {}, {}, kLarge);
  CHECK(out.in_published());
  CHECK(out.published_bytes() > kLarge.size());
  out.clear();
  CHECK_FALSE(out.in_published());
  CHECK(out.published_bytes() == 0);
  CHECK(out.size() == 0);
  out.opened(5);
  const std::string bytes = to_string(out.bytes());
  CHECK(std::get<Opened>(decode(bytes).records.at(0)).at_ms == 5);
}

TEST_CASE("records: whatever random records say, they come back, and are written again as the same bytes") {
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<Record> records;
    for (std::uint64_t i = random.below(6); i > 0; --i) records.push_back(random.plain());
    const std::string bytes = encode(records);
    const Decoded decoded = decode(bytes);
    REQUIRE(decoded.error == "");
    REQUIRE(decoded.records == records);
    REQUIRE(encode(decoded.records) == bytes);
  }
}

TEST_CASE("records: whatever random runs and copies say, they come back, and are written again as the same bytes") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<PublishedMessage> messages;
    std::vector<Copy> copies;
    for (std::uint64_t i = 1 + random.below(8); i > 0; --i) messages.push_back(random.published_message());
    for (std::uint64_t i = 1 + random.below(8); i > 0; --i) copies.push_back(random.copy());
    RecordWriter out;
    out.begin_published(random.number(), 1, 2, random.number(), random.number(), 3);
    for (const PublishedMessage& message : messages) {
      out.add_message(message.priority, message.due_ms, message.expires_ms, message.dedup_key, message.body.headers,
                      message.body.payload);
    }
    out.end_published();
    out.message({random.number(), 1, 9, 2, 3, random.text(), random.text(), {random.text(), random.text(), 0}, {}},
                copies);
    const std::string bytes = to_string(out.bytes());
    const Decoded decoded = decode(bytes);
    REQUIRE(decoded.error == "");
    std::vector<PublishedMessage> messages_read;
    std::vector<Copy> copies_read;
    for (const auto& message : std::get<Published>(decoded.records.at(0)).messages) messages_read.push_back(message);
    for (const auto& copy : std::get<Message>(decoded.records.at(1)).copies) copies_read.push_back(copy);
    REQUIRE(messages_read == messages);
    REQUIRE(copies_read == copies);
    REQUIRE(encode(decoded.records) == bytes);
  }
}
