#pragma once
// journal/scan.h: reads a journal from its first segment to its end, and judges what is not good there. Changes nothing.
//
// Place    file_journal (at each start), repair, and the tools: [scan] -> Disk.
// Shapes   in: a directory. out: the good batches in order, to a sink; then where the journal ends, or damage.
// Errors   an IoError only for the directory itself; what a file does not give is Damage with its offset.
// Source   spec/journal.md section 4.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/disk.h"
#include "journal/segment_format.h"

namespace sluice::journal {

// One good batch with at least one turn. `body` is valid during the call.
struct ScannedBatch {
  Location base{};  // of body[0]
  Sequence first{};
  Sequence last{};
  std::uint32_t epoch = 0;
  std::span<const std::byte> body;
};

// An answer is a reason for people why the records cannot be taken: it ends the scan, as damage at that batch.
using BatchSink = std::function<std::optional<std::string>(const ScannedBatch&)>;
using Progress = std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_all)>;

enum class DamageKind : std::uint8_t {
  damage,
  foreign,  // the directory is somebody else's
  newer,    // a format that is not known here
};

struct Damage {
  DamageKind kind = DamageKind::damage;
  std::string file;  // a path
  std::uint64_t offset = 0;
  std::string reason;
  std::string text() const;  // one line
};

// What was being written when the power went.
struct TornTail {
  std::string file;  // a path
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // up to the last one that is not zero
};

struct SegmentInfo {
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;           // of the file, as its header says
  std::uint64_t first_sequence = 0;  // of its first batch
  std::uint64_t last_sequence = 0;   // of what is good in it; first_sequence - 1 if nothing is
  std::uint64_t end = 0;             // the offset behind its last good batch
  std::uint64_t last_batch = 0;      // where that begins
  bool ended = false;                // by that batch
};

struct ScanResult {
  std::uint64_t journal = 0;
  std::uint32_t epoch = 0;   // the highest seen
  std::uint32_t oldest = 0;  // the first segment that is needed, as the last batch says
  std::uint32_t chain = 0;
  std::uint64_t last_sequence = 0;
  std::uint64_t batches = 0;
  // All that hold batches or will hold the next one, in order. Empty: there is no journal yet.
  std::vector<SegmentInfo> segments;
  // Behind them: prepared ahead and not used, in order.
  std::vector<SegmentInfo> spares;
  std::vector<std::string> unfinished;  // names of *.segment.new
  std::optional<TornTail> torn;
  // With it: segments and the numbers describe what is good before it; spares says nothing.
  std::optional<Damage> damage;
  // The damage is that a segment before the first one is missing; all others are good.
  bool misses_oldest = false;
};

// Of a directory's names: one that shows that it is somebody else's. nullopt: it holds a journal, or nothing.
std::optional<std::string> foreign_name(const std::vector<std::string>& names);

io::IoResult<ScanResult> scan(io::Disk& disk, const BatchSink& sink = {}, const Progress& progress = {});

}  // namespace sluice::journal
