#include "cli/journal/report.h"

#include <algorithm>
#include <cstdio>

#include "cli/facts.h"
#include "cli/journal/directory.h"
#include "cli/text.h"
#include "record/decode.h"

namespace sluice::cli {
namespace {

class Counter {
 public:
  explicit Counter(JournalReport& report) : report_(report) {}

  std::optional<std::string> operator()(const journal::ScannedBatch& batch) {
    if (report_.first_sequence == 0) report_.first_sequence = raw(batch.first);
    report_.record_bytes += batch.body.size();
    record::RecordReader reader(batch.body);
    while (const auto record = reader.next()) add(*record);
    if (!reader.error()) return std::nullopt;
    return "byte " + std::to_string(reader.error()->offset) + " of the batch's records: " + reader.error()->text;
  }

 private:
  void add(const record::Record& record) {
    ++report_.records[record.index()];
    report_.last_is_closed = std::holds_alternative<record::Closed>(record);
    if (const auto* const run = std::get_if<record::Published>(&record)) {
      report_.messages += run->messages.size();
      for (const record::PublishedMessage& message : run->messages) add(message.body);
    } else if (const auto* const message = std::get_if<record::Message>(&record)) {
      add(message->body);
      // The others were known before: a copy that compaction wrote is none that was published.
      for (const record::Copy& copy : message->copies) report_.messages += copy.fresh ? 1 : 0;
    }
  }
  void add(const record::Body& body) { report_.body_bytes += body.headers.size() + body.payload.size(); }

  JournalReport& report_;
};

JournalEnd end_of(const JournalReport& report) {
  if (report.found.damage) return JournalEnd::damaged;
  if (report.found.torn) return JournalEnd::torn;
  return report.last_is_closed ? JournalEnd::clean : JournalEnd::open;
}

std::uint64_t record_count(const JournalReport& report) {
  std::uint64_t count = 0;
  for (const std::uint64_t each : report.records) count += each;
  return count;
}

// As people compare it: 16 hex digits. JSON numbers of 64 bits are not safe in every reader.
std::string journal_number(const JournalReport& report) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(report.found.journal));
  return text.data();
}

}  // namespace

std::string_view name(JournalEnd end) {
  switch (end) {
    case JournalEnd::clean:
      return "clean";
    case JournalEnd::open:
      return "open";
    case JournalEnd::torn:
      return "torn";
    case JournalEnd::damaged:
      return "damaged";
  }
  return {};
}

JournalReport check_journal(io::Disk& disk, const std::string& path, std::optional<std::string> holder) {
  JournalReport report;
  report.holder = std::move(holder);
  Counter counter(report);
  report.found = scan_journal(disk, path, [&counter](const journal::ScannedBatch& batch) { return counter(batch); });
  for (const journal::SegmentInfo& segment : report.found.segments) report.file_bytes += segment.bytes;
  for (const journal::SegmentInfo& spare : report.found.spares) report.file_bytes += spare.bytes;
  report.end = end_of(report);
  return report;
}

Json json_of(const JournalReport& report, const std::string& path) {
  const journal::ScanResult& found = report.found;
  Json records = Json::object();
  for (std::size_t i = 0; i < report.records.size(); ++i)
    records[std::string(name(static_cast<record::Type>(i + 1)))] = report.records[i];
  Json out = {{"directory", path},
              {"end", name(report.end)},
              {"live", report.holder.has_value()},
              {"journal", journal_number(report)},
              {"epoch", found.epoch},
              {"segments", found.segments.size()},
              {"spare_segments", found.spares.size()},
              {"file_bytes", report.file_bytes},
              {"batches", found.batches},
              {"first_sequence", report.first_sequence},
              {"last_sequence", found.last_sequence},
              {"record_count", record_count(report)},
              {"record_bytes", report.record_bytes},
              {"messages_published", report.messages},
              {"body_bytes", report.body_bytes},
              {"records", std::move(records)}};
  if (found.torn)
    out["torn"] = {{"file", found.torn->file}, {"offset", found.torn->offset}, {"bytes", found.torn->bytes}};
  if (found.damage) {
    out["damage"] = {{"file", found.damage->file}, {"offset", found.damage->offset}, {"reason", found.damage->reason}};
  }
  out["advice"] = advice(report, path);
  return out;
}

void print_report(Output& out, const JournalReport& report, const std::string& path) {
  const journal::ScanResult& found = report.found;
  Facts facts(out);
  facts.add("directory", escape(path));
  facts.add("end", std::string(name(report.end)));
  facts.add("live", report.holder ? "yes" : "no");
  facts.add("journal", journal_number(report));
  facts.add("epoch", found.epoch);
  facts.add("segments", found.segments.size());
  facts.add("spare_segments", found.spares.size());
  facts.add_size("file_bytes", report.file_bytes);
  facts.add("batches", found.batches);
  facts.add("first_sequence", report.first_sequence);
  facts.add("last_sequence", found.last_sequence);
  facts.add("record_count", record_count(report));
  facts.add_size("record_bytes", report.record_bytes);
  facts.add("messages_published", report.messages);
  facts.add_size("body_bytes", report.body_bytes);
  for (std::size_t i = 0; i < report.records.size(); ++i) {
    if (report.records[i] > 0)
      facts.add("records." + std::string(name(static_cast<record::Type>(i + 1))), report.records[i]);
  }
  if (found.torn) {
    facts.add("torn_file", escape(found.torn->file));
    facts.add("torn_offset", found.torn->offset);
    facts.add("torn_bytes", found.torn->bytes);
  }
  if (found.damage) {
    facts.add("damage_file", escape(found.damage->file));
    facts.add("damage_offset", found.damage->offset);
    facts.add("damage_reason", escape(found.damage->reason));
  }
  facts.print();
}

std::string advice(const JournalReport& report, const std::string& path) {
  const std::string live = report.holder ? holder_text(*report.holder) + " is writing here: " : "";
  switch (report.end) {
    case JournalEnd::clean:
      return "good to its end; the broker stopped in order";
    case JournalEnd::open:
      return report.holder ? live + "good up to where it was read"
                           : "good to its end; the broker was not stopped in order, and nothing is missing";
    case JournalEnd::torn:
      return report.holder ? live + "what looks torn is most likely the write of this moment"
                           : "a write was cut off by the end of the machine or the broker: the next start removes it, "
                             "and nothing that was confirmed goes with it";
    case JournalEnd::damaged:
      break;
  }
  if (report.holder) return live + "it may have removed what was being read; stop it and verify again";
  if (report.found.damage->kind == journal::DamageKind::newer)
    return "a newer version wrote it: use the programs of that version";
  return "the broker does not start with it: keep a copy of the directory, look for the cause (disk, file system, "
         "another "
         "copy of the files), restore a backup if there is one, or see what would be lost with: sluice journal "
         "repair " +
         path;
}

}  // namespace sluice::cli
