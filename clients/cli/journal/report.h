#pragma once
// journal/report.h: what a whole journal holds, and whether it is good to its end.
//
// Source   spec/journal.md section 4.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/output.h"
#include "io/disk.h"
#include "journal/scan.h"
#include "record/record.h"

namespace sluice::cli {

enum class JournalEnd : std::uint8_t {
  clean,    // the broker stopped in order
  open,     // it did not, or runs; nothing is missing
  torn,     // a write was cut off: it is removed at the next start, nothing that was confirmed goes
  damaged,  // the broker does not start
};

struct JournalReport {
  JournalEnd end = JournalEnd::open;
  std::optional<std::string> holder;  // the process of the broker that has it open
  journal::ScanResult found;
  std::array<std::uint64_t, record::kTypeCount> records{};  // by type
  std::uint64_t messages = 0;                               // published ones, each copy of a topic's message counted
  std::uint64_t body_bytes = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t first_sequence = 0;  // 0: there is no turn in it
  bool last_is_closed = false;
};

std::string_view name(JournalEnd end);

// Reads all of it. Failure as directory.h says.
JournalReport check_journal(io::Disk& disk, const std::string& path, std::optional<std::string> holder);

Json json_of(const JournalReport& report, const std::string& path);
void print_report(Output& out, const JournalReport& report, const std::string& path);
// What it means and what to do now, a line or two for people.
std::string advice(const JournalReport& report, const std::string& path);

}  // namespace sluice::cli
