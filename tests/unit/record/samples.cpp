#include "samples.h"

namespace sluice::record {

Decoded decode(std::string_view bytes) {
  Decoded out;
  RecordReader reader(as_bytes(bytes));
  while (auto record = reader.next()) out.records.push_back(std::move(*record));
  if (reader.error()) out.error = std::to_string(reader.error()->offset) + ": " + reader.error()->text;
  return out;
}

std::string encode(const std::vector<Record>& records) {
  RecordWriter out;
  for (const Record& record : records) out.write(record);
  return to_string(out.bytes());
}

std::string sample_bytes() {
  Random random(1);
  RecordWriter out;
  out.marks({127, 128, 16'384, 1, kMax});
  out.queue(random.queue());
  out.queue_deleted(9);
  out.bound(9, "orders.*");
  out.unbound(9, "orders.#");
  out.begin_published(7, 1'000, 2'000, 1'800'000'000'000, 3, 44);
  out.add_message(4, 0, 0, {}, {}, "first");
  out.add_message(9, 1'800'000'000'500, 1'800'000'001'000, "once", "\x81\xa1k\xa1v", "second");
  out.end_published();
  Message message;
  message.id = 1;
  message.topic = "orders.eu";
  message.body = {"\x81\xa1k\xa1v", "copied", 0};
  std::vector<Copy> copies = {{}, {}};
  copies[0].queue = 7;
  copies[0].error = "timeout";
  copies[1].death = Death{Reason::attempts, "jobs", 1'800'000'000'000, {5, 1, 2, 3, 4, 5}};
  out.message(message, copies);
  out.delivered(1'000, 70'000, 2);
  out.ended(How::expired, 1'000, 1);
  out.returned({1'001, Cause::nack, true, 1'800'000'002'000, "broken"});
  out.dead_lettered({1'001, Cause::lease_ran_out, 8, 1'002, Reason::attempts, "jobs", 1'800'000'003'000, "broken"});
  out.replayed(1'001, 7, 1'003);
  const std::vector<AcceptedRange> accepted = {{1, 10, 5}, {6, 100, 1}};
  const std::vector<RefusedRange> refused = {{7, 2, 210, "queue is full"}};
  out.producer(3, "importer", 8, accepted, refused);
  out.refused(3, {9, 1, 210, "queue is full"});
  out.producer_gone(3);
  out.dedup_key(0, "orders.eu once", 1, 1'800'000'000'000);
  out.opened(1'800'000'000'000);
  out.closed(1'800'000'009'000);
  out.accepted(3, {10, 7, 1});
  return to_string(out.bytes());
}

std::uint64_t Random::number() {
  const std::uint64_t any = engine_();
  if (flip()) return any >> below(64);
  const std::uint64_t border = std::uint64_t{1} << (7 * below(10));
  return flip() ? border : flip() ? border - 1 : kMax - below(2);
}

std::uint64_t Random::count_from(std::uint64_t first) {
  const std::uint64_t room = kMax - first;
  return room == 0 || flip() ? 1 : 1 + number() % room;
}

std::string_view Random::text() {
  constexpr std::uint64_t kLengths[] = {0, 1, 5, 126, 127, 128, 129, 20'000};
  std::string& out = kept_.emplace_back(static_cast<std::size_t>(kLengths[below(std::size(kLengths))]), '\0');
  for (char& byte : out) byte = static_cast<char>(engine_() & 0xffU);
  return out;
}

Counts Random::counts() { return {number(), number(), number(), number(), number(), number()}; }

Copy Random::copy() {
  Copy copy{number(), number(), number(), static_cast<State>(below(3)), number(), number(), flip(), flip(),
            counts(), text(),   {}};
  if (flip()) copy.death = Death{static_cast<Reason>(1 + below(4)), text(), number(), counts()};
  return copy;
}

PublishedMessage Random::published_message() {
  PublishedMessage message;
  if (flip()) message.priority = static_cast<std::uint8_t>(below(10));
  if (flip()) message.due_ms = number();
  if (flip()) message.expires_ms = number();
  if (flip()) message.dedup_key = text();
  message.body.headers = text();
  message.body.payload = text();
  return message;
}

Policy Random::policy() {
  Policy policy{number(), number(), number(), static_cast<double>(number()) / 3, number(), -0.25, number()};
  policy.max_bytes = number();
  policy.overflow = static_cast<Overflow>(below(4));
  policy.block_timeout_ms = number();
  policy.ttl_ms = number();
  policy.on_expiry = static_cast<OnExpiry>(below(2));
  policy.dedup_window_ms = number();
  policy.dead_letter_max = number();
  return policy;
}

Queue Random::queue() {
  Queue queue{number(), text(), flip(), flip(), flip(), policy(), {}};
  for (std::uint64_t i = below(18); i > 0; --i) queue.counters.push_back(number());
  return queue;
}

RefusedRange Random::refused_range() {
  const std::uint64_t first = number();
  return {first, count_from(first), number(), text()};
}

Producer Random::producer() {
  Producer producer{number(), text(), number(), {}, {}};
  for (std::uint64_t i = below(4); i > 0; --i) {
    const std::uint64_t first = number();
    const std::uint64_t id = number();
    producer.accepted.push_back({first, id, count_from(std::max(first, id))});
  }
  for (std::uint64_t i = below(4); i > 0; --i) producer.refused.push_back(refused_range());
  return producer;
}

Record Random::plain() {
  const std::uint64_t first = number();
  const std::uint64_t lease = number();
  switch (below(17)) {
    case 0:
      return Marks{number(), number(), number(), number(), number()};
    case 1:
      return queue();
    case 2:
      return QueueDeleted{number()};
    case 3:
      return Bound{number(), text()};
    case 4:
      return Unbound{number(), text()};
    case 5:
      return Delivered{first, lease, count_from(std::max(first, lease))};
    case 6:
      return Ended{static_cast<How>(1 + below(4)), first, count_from(first)};
    case 7:
      return Returned{number(), static_cast<Cause>(1 + below(5)), flip(), number(), text()};
    case 8:
      return DeadLettered{number(),
                          static_cast<Cause>(below(6)),
                          number(),
                          number(),
                          static_cast<Reason>(1 + below(4)),
                          text(),
                          number(),
                          text()};
    case 9:
      return Replayed{number(), number(), number()};
    case 10:
      return producer();
    case 11:
      return Refused{number(), refused_range()};
    case 12:
      return ProducerGone{number()};
    case 13:
      return DedupKey{number(), text(), number(), number()};
    case 14:
      return Opened{number()};
    case 15:
      return Closed{number()};
    default:
      return Accepted{number(), {first, lease, count_from(std::max(first, lease))}};
  }
}

}  // namespace sluice::record
