#pragma once
// journal/directory.h: a journal's directory as the tools see it: without a broker, and unchanged.
//
// Errors   Failure no_journal (exit 4) when there is no such directory or no journal in it, input_output when it cannot be read,
//          journal_in_use.
// Source   spec/journal.md section 1.

#include <memory>
#include <optional>
#include <string>

#include "cli/failure.h"
#include "io/posix_disk.h"
#include "journal/scan.h"

namespace sluice::cli {

std::unique_ptr<io::PosixDisk> open_journal_directory(const std::string& path);

// Who has the journal open: its process id as text ("" when the lock does not say), or nobody. Looks for a moment, takes nothing.
std::optional<std::string> journal_holder(const io::Disk& disk);

// "the broker (process 123)".
std::string holder_text(const std::string& process);

Failure in_use_failure(const io::Disk& disk, const std::string& process);
Failure damage_failure(const journal::Damage& damage, std::string hint);

// scan(), but a directory without a journal is no_journal.
journal::ScanResult scan_journal(io::Disk& disk, const std::string& path, const journal::BatchSink& sink);

}  // namespace sluice::cli
