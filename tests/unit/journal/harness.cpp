#include "harness.h"

#include <algorithm>

namespace sluice::journal::test {

std::vector<std::byte> turn_bytes(std::uint64_t sequence, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  std::uint64_t state = sequence * 0x9E3779B97F4A7C15;
  for (std::byte& byte : made) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<std::byte>(1 + (state >> 40) % 255);
  }
  return made;
}

std::size_t turn_size(std::uint64_t sequence, std::size_t bytes_max) {
  if (bytes_max == kMixed && sequence % 19 == 0) return kSmallBytes + turn_size(sequence, 9'000);
  return 1 + static_cast<std::size_t>((sequence * 0x9E3779B97F4A7C15 >> 20) % bytes_max);
}

BatchSink Replayed::sink() {
  return [this](const ScannedBatch& batch) -> std::optional<std::string> {
    if (batches++ == 0) first = raw(batch.first);
    last = raw(batch.last);
    bytes.insert(bytes.end(), batch.body.begin(), batch.body.end());
    bases.push_back(batch.base);
    return std::nullopt;
  };
}

bool are_turns(const Replayed& replayed, std::uint64_t first, std::uint64_t last, std::size_t bytes_max) {
  if (last < first) return replayed.batches == 0;
  if (replayed.first != first || replayed.last != last) return false;
  std::size_t at = 0;
  for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
    const auto turn = turn_bytes(sequence, turn_size(sequence, bytes_max));
    if (at + turn.size() > replayed.bytes.size()) return false;
    if (!std::equal(turn.begin(), turn.end(), replayed.bytes.begin() + static_cast<std::ptrdiff_t>(at))) return false;
    at += turn.size();
  }
  return at == replayed.bytes.size();
}

FileJournalOptions small(SyncMode sync) { return {sync, 1'000, kSmallBytes}; }

Opened open(io::Disk& disk, const FileJournalOptions& options, const BatchSink& sink) {
  return FileJournal::open(disk, options, kId, sink);
}

void run(FileJournal& journal, std::uint64_t now_ms) {
  bool works = true;
  while (works) {
    works = journal.reader().step();
    works = journal.writer().step(now_ms) || works;
  }
}

Appended append_turn(FileJournal& journal, std::size_t bytes_max) {
  const std::uint64_t sequence = raw(journal.last()) + 1;
  return journal.append(turn_bytes(sequence, turn_size(sequence, bytes_max)));
}

void append_turns(FileJournal& journal, std::uint64_t count, std::size_t bytes_max) {
  for (std::uint64_t i = 0; i < count; ++i) {
    append_turn(journal, bytes_max);
    run(journal);
  }
}

}  // namespace sluice::journal::test
