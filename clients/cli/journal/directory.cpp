#include "cli/journal/directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <string_view>

#include "journal/segment_format.h"

namespace sluice::cli {
namespace {

Failure no_journal_failure(const std::string& message) {
  return {Exit::not_found, kErrorNoJournal, "no_journal", message, "name the directory that sluiced has as --data"};
}

Failure failure_of(const io::IoError& error) { return input_output_failure(error.text()); }

// At most what a process id has, and nothing that is none.
std::string read_process(int lock) {
  std::array<char, 20> bytes;
  const ssize_t got = ::pread(lock, bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto end = std::ranges::find_if_not(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return {text.begin(), end};
}

}  // namespace

std::unique_ptr<io::PosixDisk> open_journal_directory(const std::string& path) {
  auto disk = io::PosixDisk::open_existing(path);
  if (disk) return std::move(*disk);
  if (disk.error().number == ENOENT || disk.error().number == ENOTDIR)
    throw no_journal_failure("there is no directory '" + path + "'");
  throw failure_of(disk.error());
}

std::optional<std::string> journal_holder(const io::Disk& disk) {
  const std::string path = disk.path(journal::kLockName);
  const int lock = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) {
    if (errno == ENOENT) return std::nullopt;
    throw failure_of(io::IoError{"open", path, errno});
  }
  std::optional<std::string> process;
  if (::flock(lock, LOCK_SH | LOCK_NB) != 0) {
    const int number = errno;
    if (number == EWOULDBLOCK) process = read_process(lock);
    ::close(lock);
    if (!process) throw failure_of(io::IoError{"flock", path, number});
    return process;
  }
  ::close(lock);
  return std::nullopt;
}

std::string holder_text(const std::string& process) {
  return "a broker" + (process.empty() ? std::string() : " (process " + process + ")");
}

Failure in_use_failure(const io::Disk& disk, const std::string& process) {
  return {Exit::failed, kErrorJournalInUse, "journal_in_use",
          holder_text(process) + " holds " + disk.path(journal::kLockName), "stop the broker first"};
}

Failure damage_failure(const journal::Damage& damage, std::string hint) {
  if (damage.kind == journal::DamageKind::foreign) return no_journal_failure(damage.text());
  return {Exit::failed, kErrorJournalDamaged, "journal_damaged", damage.text(), std::move(hint)};
}

journal::ScanResult scan_journal(io::Disk& disk, const std::string& path, const journal::BatchSink& sink) {
  auto found = journal::scan(disk, sink);
  if (!found) throw failure_of(found.error());
  if (found->damage && found->damage->kind == journal::DamageKind::foreign) throw damage_failure(*found->damage, {});
  if (!found->damage && found->segments.empty()) throw no_journal_failure("there is no journal in '" + path + "'");
  return std::move(*found);
}

}  // namespace sluice::cli
