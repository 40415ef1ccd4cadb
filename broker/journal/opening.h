#pragma once
// journal/opening.h: makes a directory ready to be appended to: what a crash left is put in order, and every step of that can be cut off by the next one.
//
// Place    file_journal -> [opening] -> scan, Disk.
// Source   spec/journal.md section 4.

#include <cstdint>
#include <string>
#include <vector>

#include "io/disk.h"
#include "journal/scan.h"
#include "journal/writer.h"

namespace sluice::journal {

// REQUIRES: `found` has no damage. Makes the first segment, with `id`, if there is none.
io::IoResult<Writer::Start> put_in_order(io::Disk& disk, const WriterOptions& options, std::uint64_t id,
                                         ScanResult& found);

// From the last to the first, each removal synced: a crash leaves no gap between segments.
io::IoResult<void> remove_segments(io::Disk& disk, const std::vector<std::uint32_t>& indices);

}  // namespace sluice::journal
