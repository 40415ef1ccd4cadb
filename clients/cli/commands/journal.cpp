// sluice journal: verify, dump, repair. They read the directory of a broker's journal; no broker is asked.

#include "cli/commands/commands.h"
#include "cli/facts.h"
#include "cli/journal/directory.h"
#include "cli/journal/report.h"
#include "cli/options.h"
#include "cli/record_json.h"
#include "cli/text.h"
#include "journal/repair.h"
#include "journal/segment_format.h"
#include "record/decode.h"

namespace sluice::cli {
namespace {

struct JournalOptions {
  std::string directory;
  std::optional<std::uint64_t> from;
  std::optional<std::string> type;
  bool force = false;
};

void note_holder(const std::optional<std::string>& holder) {
  if (holder) note(holder_text(*holder) + " is writing here: this is what was there at the moment of reading");
}

Exit run_verify(Context& context, const JournalOptions& options) {
  const auto disk = open_journal_directory(options.directory);
  std::optional<std::string> holder = journal_holder(*disk);
  JournalReport report = check_journal(*disk, options.directory, holder);
  // One that started meanwhile explains as much.
  if (!report.holder) report.holder = journal_holder(*disk);
  if (context.globals.json) {
    context.out.object(json_of(report, options.directory));
  } else {
    print_report(context.out, report, options.directory);
    context.out.flush();
    if (report.found.damage) note("damaged: " + report.found.damage->text());
    note(advice(report, options.directory));
  }
  return report.end == JournalEnd::damaged ? Exit::failed : Exit::done;
}

// A line for each record that was asked for. `batch`: the first sequence of the batch that it stands in.
std::optional<std::string> dump_batch(Context& context, const JournalOptions& options,
                                      const journal::ScannedBatch& batch) {
  if (options.from && raw(batch.last) < *options.from) return std::nullopt;
  const std::optional<record::Type> type = options.type ? record::find_type(*options.type) : std::nullopt;
  record::RecordReader reader(batch.body);
  while (const auto record = reader.next()) {
    if (type && record::type_of(*record) != *type) continue;
    Json line = {{"segment", journal::segment_of(batch.base)},
                 {"offset", journal::offset_of(batch.base) + reader.offset()},
                 {"batch", raw(batch.first)},
                 {"turns", raw(batch.last) - raw(batch.first) + 1},
                 {"epoch", batch.epoch}};
    line.update(json_of(*record));
    context.out.object(line);
  }
  if (!reader.error()) return std::nullopt;
  return "byte " + std::to_string(reader.error()->offset) + " of the batch's records: " + reader.error()->text;
}

Exit run_dump(Context& context, const JournalOptions& options) {
  const auto disk = open_journal_directory(options.directory);
  note_holder(journal_holder(*disk));
  const journal::ScanResult found = scan_journal(
      *disk, options.directory,
      [&context, &options](const journal::ScannedBatch& batch) { return dump_batch(context, options, batch); });
  context.out.flush();
  if (found.damage) throw damage_failure(*found.damage, "sluice journal verify " + options.directory + " says more");
  if (found.torn) {
    note("a write was cut off at " + found.torn->file + ", offset " + std::to_string(found.torn->offset) + ": " +
         count_of(found.torn->bytes, "byte") + " left out");
  }
  return Exit::done;
}

Json json_of(const journal::RepairPlan& plan, const io::Disk& disk) {
  Json out = {{"damage", {{"file", plan.damage.file}, {"offset", plan.damage.offset}, {"reason", plan.damage.reason}}},
              {"cut_file", plan.segment == 0 ? Json() : Json(disk.path(journal::segment_name(plan.segment)))},
              {"cut_offset", plan.offset}};
  Json removed = Json::array();
  for (const std::uint32_t index : plan.removed) removed.push_back(disk.path(journal::segment_name(index)));
  out["removed_files"] = std::move(removed);
  out["forgets_missing"] = plan.forgets_missing;
  out["lost_bytes"] = plan.bytes;
  out["lost_batches"] = plan.batches;
  out["lost_turns"] = plan.turns;
  out["lost_first_sequence"] = plan.first_sequence;
  out["lost_last_sequence"] = plan.last_sequence;
  out["kept_last_sequence"] = plan.kept_last_sequence;
  return out;
}

// Arrays as one line each: the keys are those of the JSON.
void print_plan(Output& out, const Json& plan) {
  Facts facts(out);
  const auto text = [](const Json& value) {
    return value.is_string() ? escape(value.get<std::string>()) : value.dump();
  };
  for (const auto& [key, value] : plan.items()) {
    if (value.is_object()) {
      for (const auto& [inner, inner_value] : value.items()) facts.add(key + "_" + inner, text(inner_value));
    } else if (value.is_array()) {
      for (const Json& item : value) facts.add(key, text(item));
    } else if (!value.is_null()) {
      facts.add(key, text(value));
    }
  }
  facts.print();
}

void print_repair(Context& context, Json plan, bool done) {
  plan["repaired"] = done;
  if (context.globals.json) {
    context.out.object(plan);
  } else {
    print_plan(context.out, plan);
    context.out.flush();
  }
}

void hold(io::Disk& disk) {
  const auto locked = disk.lock(journal::kLockName);
  if (!locked) throw input_output_failure(locked.error().text());
  if (!*locked) throw in_use_failure(disk, journal_holder(disk).value_or(""));
}

Exit report_nothing_to_do(Context& context, const JournalReport& report, const std::string& path) {
  if (context.globals.json) context.out.object({{"repaired", false}, {"end", name(report.end)}, {"damage", nullptr}});
  note("nothing to repair: " + advice(report, path));
  return Exit::done;
}

Exit run_repair(Context& context, const JournalOptions& options) {
  const auto disk = open_journal_directory(options.directory);
  if (const auto holder = journal_holder(*disk)) throw in_use_failure(*disk, *holder);
  // Looked at before anything is locked: locking writes into the directory, and it may be somebody else's.
  JournalReport report = check_journal(*disk, options.directory, std::nullopt);
  if (!report.found.damage) return report_nothing_to_do(context, report, options.directory);
  if (options.force) {
    hold(*disk);
    report = check_journal(*disk, options.directory, std::nullopt);
    if (!report.found.damage) return report_nothing_to_do(context, report, options.directory);
  }
  const auto plan = journal::plan_repair(*disk, report.found);
  if (!plan) throw Failure(Exit::failed, kErrorJournalDamaged, "journal_damaged", plan.error());
  if (!options.force) {
    print_repair(context, json_of(*plan, *disk), false);
    note(
        "nothing was changed; what is lost may have been confirmed. Keep a copy of the directory, then: "
        "sluice journal repair " +
        options.directory + " --force");
    return Exit::failed;
  }
  if (const auto done = journal::repair(*disk, report.found, *plan); !done)
    throw input_output_failure(done.error().text(), "the repair can be run again");
  print_repair(context, json_of(*plan, *disk), true);
  note("repaired: the journal ends with sequence " + std::to_string(plan->kept_last_sequence));
  return Exit::done;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= record::kTypeCount; ++i) names.emplace_back(name(static_cast<record::Type>(i)));
  return names;
}

}  // namespace

void add_journal_commands(Registry& registry) {
  CLI::App& noun =
      registry.add_noun("journal", "A broker's journal on disk, without the broker: verify, dump, repair.");
  auto options = std::make_shared<JournalOptions>();
  const std::string directory_help = "the directory that sluiced has as --data";

  CLI::App& verify = registry.add_command(
      noun, "verify",
      "Reads all of a journal, and says what is in it and whether it is good to its end. Changes nothing.\n"
      "Exit 0: good, or cut off by a crash, which the broker mends at its start. Exit 1: damaged. Exit 4: no journal "
      "there.",
      "sluice journal verify /var/lib/sluice", [options](Context& context) { return run_verify(context, *options); });
  add_word(verify, "DIR", options->directory, directory_help);

  CLI::App& dump =
      registry.add_command(noun, "dump",
                           "Prints each record of a journal, a JSON object a line. Changes nothing.\n"
                           "The keys are those of spec/journal.md; payloads are base64, and text where they are text.",
                           "sluice journal dump /var/lib/sluice --type dead_lettered | jq .error",
                           [options](Context& context) { return run_dump(context, *options); });
  add_word(dump, "DIR", options->directory, directory_help);
  add_number(dump, "--from", options->from, {}, "begin with the batch that has this sequence");
  add_choice(dump, "--type", options->type, "NAME", type_names(), "only these records");

  CLI::App& repair = registry.add_command(
      noun, "repair",
      "Says what would be lost if a damaged journal ended where the damage is; with --force it does it.\n"
      "What is lost may have been confirmed: keep a copy of the directory first. Refuses while a broker runs on it.",
      "sluice journal repair /var/lib/sluice", [options](Context& context) { return run_repair(context, *options); });
  add_word(repair, "DIR", options->directory, directory_help);
  repair.add_flag("--force", options->force, "cut the journal there");
}

}  // namespace sluice::cli
