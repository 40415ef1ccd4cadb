#include "durability/keeper.h"

#include <utility>

namespace sluice::durability {

Keeper::Keeper(std::uint64_t memory_bytes, engine::Engine& engine, Recorder& recorder, journal::Journal& journal)
    : engine_(engine),
      recorder_(recorder),
      journal_(journal),
      pager_(memory_bytes, engine, recorder, journal),
      compactor_(engine, recorder, pager_, journal) {
  recorder_.bind(engine);
  recorder_.begin_at(Sequence{raw(journal.last()) + 1});
  engine_.set_bodies(pager_);
}

tl::expected<Restored, std::string> Keeper::begin(Restorer& restorer, const engine::Now& now) {
  auto restored = restorer.finish(engine_, recorder_, now);
  if (!restored) return restored;
  recorder_.write_opened(now);
  if (raw(recorder_.marks_home()) == 0) recorder_.write_marks();
  append();
  return restored;
}

void Keeper::begin_turn(const engine::Now& now) {
  while (std::optional<journal::Fetched> fetched = journal_.take()) {
    if (Compactor::is_ticket(fetched->ticket)) {
      compactor_.arrived(*std::move(fetched));
    } else {
      pager_.arrived(*fetched, now);
    }
  }
}

bool Keeper::end_turn(const engine::Now& now) {
  const bool more = compactor_.step(now);
  append();
  pager_.trim();
  return more;
}

void Keeper::close(const engine::Now& now) {
  recorder_.write_closed(now);
  append();
}

void Keeper::append() {
  const std::span<const std::byte> records = recorder_.finish_turn();
  if (records.empty()) return;
  const journal::Appended place = journal_.append(records);
  pager_.appended(place.sequence);
  recorder_.appended(place);
}

}  // namespace sluice::durability
