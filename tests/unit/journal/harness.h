#pragma once
// unit/journal/harness.h: journals on a simulated disk, and turns whose bytes are known.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "journal/file_journal.h"
#include "sim_disk.h"

namespace sluice::journal::test {

using sluice::test::Call;
using sluice::test::SimDisk;

constexpr std::uint64_t kId = 0x1122334455667788;
constexpr std::uint64_t kSmallBytes = 64 << 10;  // of a segment

// What a turn wrote: its number, then bytes of which none is zero.
std::vector<std::byte> turn_bytes(std::uint64_t sequence, std::size_t bytes);
// A size that depends on the sequence only. kMixed: up to 9,000 bytes, but every 19th is larger than a small segment.
constexpr std::size_t kMixed = 9'001;
std::size_t turn_size(std::uint64_t sequence, std::size_t bytes_max);

// All that a scan gave, in order.
struct Replayed {
  std::vector<std::byte> bytes;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t batches = 0;
  std::vector<Location> bases;
  BatchSink sink();
};

// Whether these are the turns `first` to `last` of turn_bytes(n, turn_size(n, bytes_max)).
bool are_turns(const Replayed& replayed, std::uint64_t first, std::uint64_t last, std::size_t bytes_max);

FileJournalOptions small(SyncMode sync = SyncMode::always);

using Opened = tl::expected<std::unique_ptr<FileJournal>, OpenError>;
Opened open(io::Disk& disk, const FileJournalOptions& options = small(), const BatchSink& sink = {});

// Until there is nothing to do at that time.
void run(FileJournal& journal, std::uint64_t now_ms = 0);
// Appends the next turn.
Appended append_turn(FileJournal& journal, std::size_t bytes_max);
// So many turns, each written on its own.
void append_turns(FileJournal& journal, std::uint64_t count, std::size_t bytes_max);

}  // namespace sluice::journal::test
