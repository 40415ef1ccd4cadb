#include "durability/pager.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "durability/snapshot.h"

namespace sluice::durability {
namespace {

// Of a queue that is consumed, this much is kept at hand, ...
constexpr std::uint64_t kAheadMessages = 512;
constexpr std::uint64_t kAheadBytes = 2 * 1024 * 1024;
// ... and read again when less than half of it is left.
constexpr std::uint64_t kLowMessages = kAheadMessages / 2;
constexpr std::uint64_t kLowBytes = kAheadBytes / 2;
// Bodies that are so near to each other are read at once: what lies between costs less than another read.
constexpr std::uint64_t kGapBytes = 4'096;

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool Pager::over() const {
  const engine::Messages& messages = engine_.parts().messages;
  return messages.bytes() - messages.bytes_on_disk_only() > memory_bytes_;
}

void Pager::appended(Sequence turn) {
  if (!over()) return;
  for (const std::uint64_t key : recorder_.loose_keys()) candidates_.push_back({turn, key});
}

void Pager::trim() {
  for (; !candidates_.empty() && candidates_.front().turn <= journal_.durable(); candidates_.pop_front())
    drop_body(candidates_.front().key);
  // Whoever looks at several waits for all of them: what was asked for before has come.
  for (; !looked_at_.empty() && oldest_ticket() >= looked_at_.front().ticket; looked_at_.pop_front())
    drop_body(looked_at_.front().key);
}

void Pager::drop_body(std::uint64_t key) {
  engine::Message* const message = recorder_.messages().find(key);
  const bool spare = message != nullptr && message->has_body() && message->state != engine::MessageState::leased;
  if (!spare || !over()) return;
  message->kept().checksum = checksum(message->headers(), message->payload());
  engine_.parts().messages.detach_body(*message);
}

// What the disk gives back is not what it was given: nobody may get it, and nothing that stands there can be trusted.
void Pager::damaged(const engine::Message& message) {
  if (failure_) return;
  failure_ = "the journal gives back other bytes than it was given: message " + std::to_string(raw(message.id)) +
             " of queue " + message.queue->name + ", at " +
             journal_.describe(journal::Location{message.kept().location});
}

void Pager::look_ahead(engine::Queue& queue) {
  if (queue.fetching > 0) return;
  read(next_ones(queue), Why::next);
}

// The first messages without a body, if few with one stand before them.
std::vector<engine::Message*> Pager::next_ones(engine::Queue& queue) const {
  std::vector<engine::Message*> found;
  std::uint64_t here = 0;
  std::uint64_t here_bytes = 0;
  std::uint64_t bytes = 0;
  const auto look = [&](engine::Message& message) {
    if (message.has_body()) {
      here_bytes += message.size();
      return ++here < kLowMessages && here_bytes < kLowBytes;
    }
    if (!wanted_.contains(message.kept().key)) found.push_back(&message);
    bytes += message.size();
    return found.size() < kAheadMessages && bytes < kAheadBytes;
  };
  queue.suspects.look_at_first(look);
  queue.ready.look_at_first(look);
  return found;
}

void Pager::fetch(engine::Message& message) {
  if (!wanted_.contains(message.kept().key)) read({&message}, Why::looked_at);
}

void Pager::read(const std::vector<engine::Message*>& wanted, Why why) {
  Read next;
  for (engine::Message* message : wanted) {
    const std::uint64_t begin = message->kept().location;
    const std::uint64_t end = begin + message->size();
    const bool near =
        !next.keys.empty() && begin >= next.end && begin - next.end <= kGapBytes && end - next.begin <= kAheadBytes;
    if (!near) {
      ask(std::exchange(next, {}));
      next.begin = begin;
      next.why = why;
      next.queue = message->queue->number;
    }
    next.end = end;
    next.keys.push_back(message->kept().key);
    wanted_.insert(message->kept().key);
    ++message->queue->fetching;
  }
  ask(std::move(next));
}

void Pager::ask(Read&& read) {
  if (read.keys.empty()) return;
  const std::uint64_t ticket = std::exchange(next_ticket_, next_ticket_ + 2);
  journal_.fetch(ticket, journal::Location{read.begin}, read.end - read.begin);
  reads_.emplace(ticket, std::move(read));
}

void Pager::arrived(const journal::Fetched& fetched, const engine::Now& now) {
  const auto found = reads_.find(fetched.ticket);
  const Read read = std::move(found->second);
  reads_.erase(found);
  if (engine::Queue* const queue = recorder_.find_queue(read.queue)) {
    queue->fetching -= read.keys.size();
    engine_.parts().dispatcher.mark(*queue);
  }
  for (const std::uint64_t key : read.keys) {
    wanted_.erase(key);
    engine::Message* const message = recorder_.messages().find(key);
    if (message == nullptr || message->has_body()) continue;
    const std::uint64_t location = message->kept().location;
    // Compaction may have given it another place meanwhile: it is asked for again when it is needed.
    if (location < read.begin || location + message->size() > read.end) continue;
    const auto bytes = std::span(fetched.bytes).subspan(location - read.begin, message->size());
    if (crc32c(bytes) != message->kept().checksum) {
      damaged(*message);
      continue;
    }
    const std::string_view headers = text(bytes.first(message->headers_bytes));
    const std::string_view payload = text(bytes.subspan(message->headers_bytes));
    engine_.attach_body(*message, *engine::Body::make(payload, headers));
    if (read.why == Why::looked_at) looked_at_.push_back({next_ticket_, key});
    engine_.parts().dispatcher.mark(*message->queue);
  }
  engine_.bodies_arrived(now);
}

}  // namespace sluice::durability
