#include "shadow.h"

#include "engine/effects.h"
#include "recorder.h"
#include "told.h"

namespace sluice::model {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
constexpr std::uint64_t kSegmentBytes = 4'096;  // a handful of turns
constexpr std::uint64_t kReservedMax = 65'536;

// Nobody listens to the second engine.
class Nobody final : public engine::Effects {
 public:
  void confirm(SessionId, const wire::Confirm&) override {}
  void deliver(SessionId, std::uint64_t, LeaseId, std::uint64_t, std::span<engine::Message* const>) override {}
  void lease_lost(SessionId, const wire::LeaseLost&) override {}
  void consumer_closed(SessionId, const wire::ConsumerClosed&) override {}
  void settled(SessionId, const wire::Settled&) override {}
  void reply(SessionId, const wire::Reply&) override {}
  void error(SessionId, const wire::ErrorFrame&) override {}
};

void append(std::string& out, std::string_view name, std::uint64_t value) {
  out.append(" ").append(name).append("=").append(std::to_string(value));
}

// `restarted`: as it would be after a restart: leases returned, free of charge.
std::string shown(const engine::Message& message, bool restarted, bool times, const engine::Now& now) {
  static const engine::Extras kNone;
  const engine::Extras& past = message.extras != nullptr ? *message.extras : kNone;
  const bool returns = restarted && message.state == engine::MessageState::leased;
  const bool waits = message.state == engine::MessageState::delayed && message.when_ms > now.steady_ms;
  const bool ready = returns || !times || (message.state == engine::MessageState::delayed && !waits);
  std::string out = "  ";
  out.append(message.payload()).append("|").append(message.headers());
  append(out, "id", raw(message.id));
  append(out, "key", message.kept().key);
  append(out, "position", message.position);
  append(out, "published", message.published_ms);
  append(out, "priority", message.priority);
  append(out, "state", ready ? 0 : static_cast<std::uint64_t>(message.state));
  append(out, "suspect", message.suspect ? 1 : 0);
  if (times && waits) append(out, "due", now.wall_ms + message.when_ms - now.steady_ms);
  if (times && past.expiry.set) {
    // One that is past its time is past it, however long.
    const std::uint64_t left = past.expiry.when_ms > now.steady_ms ? past.expiry.when_ms - now.steady_ms : 0;
    append(out, "expires", now.wall_ms + left);
  }
  append(out, "deliveries", message.deliveries);
  append(out, "nacks", past.nacks);
  append(out, "expiries", past.expiries);
  append(out, "disconnects", past.disconnects);
  append(out, "releases", past.releases);
  append(out, "restarts", past.restarts + (returns ? 1U : 0U));
  out.append(" error=").append(past.error);
  if (past.reason != engine::DeadReason::none) out.append(" dead=").append(model::shown(engine::dead_map(message)));
  return out;
}

std::string shown(engine::Counters counters) {
  counters.deduplicated = counters.refused = 0;  // these two are not recorded
  return model::shown(counters.to_map());
}

// `uncounted`: queues whose counters are not compared.
std::string shown(engine::Engine& engine, bool restarted, bool times, const std::set<std::string>& uncounted,
                  const engine::Now& now) {
  const engine::Engine::Parts parts = engine.parts();
  std::string out;
  for (const auto& [name, queue] : parts.queues.by_name()) {
    if (restarted && queue->temporary) continue;
    out.append(name);
    append(out, "number", queue->number);
    append(out, "paused", queue->paused ? 1 : 0);
    append(out, "dead_letters", queue->dead_letters ? 1 : 0);
    out.append("\n  ").append(model::shown(engine::to_map(queue->policy)));
    if (!uncounted.contains(name)) out.append("\n  ").append(shown(queue->counters));
    for (const std::string_view pattern : parts.topics.patterns(*queue)) out.append("\n  bound ").append(pattern);
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    for (const engine::Message* message = queue->first; message != nullptr; message = message->queue_next) {
      if (!message->in_journal) continue;  // gone with the broker
      ++count;
      bytes += message->size();
      out.append("\n").append(shown(*message, restarted, times, now));
    }
    append(out, "count", count);
    append(out, "bytes", bytes);
    out.append("\n");
  }
  return out;
}

// Numbers of messages that are not kept are reserved ahead: after a restart some were never given, and none is given again.
void check_number(const char* name, std::uint64_t before, std::uint64_t after) {
  if (after >= before && after - before <= kReservedMax) return;
  throw Mismatch(std::string("S15: after recovery ") + name + " is " + std::to_string(after) + ", was " +
                 std::to_string(before));
}

std::string shown(const engine::Producer& producer) {
  std::string out;
  append(out, "last", producer.last_decided());
  for (const wire::Accepted& run : producer.accepted_runs())
    for (std::uint64_t i = 0; i < run.count; ++i)
      out.append(" ")
          .append(std::to_string(run.first_sequence + i))
          .append(":")
          .append(std::to_string(run.first_id + i));
  for (const wire::Refused& run : producer.refused_runs())
    for (std::uint64_t i = 0; i < run.count; ++i)
      out.append(" ")
          .append(std::to_string(run.first_sequence + i))
          .append(":-")
          .append(std::to_string(run.error.code));
  return out;
}

// The first line that differs, with the engine's and the copy's.
std::string first_difference(const std::string& engine, const std::string& copy) {
  std::size_t at = 0;
  while (at < engine.size() && at < copy.size() && engine[at] == copy[at]) ++at;
  const auto line = [at](const std::string& text) {
    const std::size_t from = at == 0 ? 0 : text.rfind('\n', at - 1);
    const std::size_t begin = from == std::string::npos ? 0 : from;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  return "\n  engine: " + line(engine) + "\n  recovered: " + line(copy);
}

}  // namespace

Shadow::Shadow() {
  journal::FileJournalOptions options;
  options.segment_bytes = kSegmentBytes;
  auto opened = journal::FileJournal::open(disk_, options, 1, {});
  if (!opened) throw Mismatch("shadow: " + opened.error().text);
  journal_ = *std::move(opened);
}

engine::Records& Shadow::records(engine::Records& seen) {
  tee_ = std::make_unique<Tee>(recorder_, seen);
  return *tee_;
}

void Shadow::begin(engine::Engine& engine, const engine::Now& now) {
  keeper_ = std::make_unique<durability::Keeper>(kUnlimited, engine, recorder_, *journal_);
  durability::Restorer nothing(kUnlimited);
  if (const auto begun = keeper_->begin(nothing, now); !begun) throw Mismatch("shadow: " + begun.error());
}

void Shadow::begin_turn(const engine::Now& now) { keeper_->begin_turn(now); }

void Shadow::end_turn(const engine::Now& now) {
  keeper_->end_turn(now);
  while (journal_->writer().step(now.steady_ms)) {
  }
  while (journal_->reader().step()) {
  }
  if (const auto failure = journal_->failure()) throw Mismatch("shadow: " + *failure);
}

void Shadow::check(engine::Engine& engine, const engine::EngineOptions& options,
                   const std::vector<std::string>& producers, bool times, const engine::Now& now) {
  parts_ = keeper_->parts_released();
  test::SimDisk copy;
  copy.load(disk_.image());
  durability::Restorer restorer(kUnlimited);
  const auto read = [&](const journal::ScannedBatch& batch) {
    return restorer.apply(batch.body, batch.base, batch.first);
  };
  journal::FileJournalOptions journal_options;
  journal_options.segment_bytes = kSegmentBytes;
  const auto opened = journal::FileJournal::open(copy, journal_options, 2, read);
  if (!opened) throw Mismatch("S15: the journal cannot be read: " + opened.error().text);
  Nobody nobody;
  durability::Recorder recorder;
  engine::Engine recovered(options, recorder, nobody);
  durability::Keeper keeper(kUnlimited, recovered, recorder, **opened);
  if (const auto begun = keeper.begin(restorer, now); !begun) throw Mismatch("S15: " + begun.error());
  const std::string before = shown(engine, true, times, tee_->uncounted(), now);
  const std::string after = shown(recovered, false, times, tee_->uncounted(), now);
  if (before != after) throw Mismatch("S15: recovery differs" + first_difference(before, after));
  const engine::Engine::Parts parts = engine.parts();
  const engine::Engine::Parts again = recovered.parts();
  check_number("next_id", parts.messages.next_id_number(), again.messages.next_id_number());
  if (again.messages.next_position() > parts.messages.next_position())
    throw Mismatch("S15: recovery knows positions that were never given");
  check_number("next_lease", raw(parts.leases.next_id()), raw(again.leases.next_id()));
  for (const std::string& name : producers) {
    engine::Producer* const ours = engine.parts().producers.find(name);
    engine::Producer* const theirs = recovered.parts().producers.find(name);
    const std::string a = ours == nullptr ? "" : shown(*ours);
    const std::string b = theirs == nullptr ? "" : shown(*theirs);
    if (a != b) throw Mismatch("S13: producer " + name + first_difference(a, b));
  }
}

}  // namespace sluice::model
