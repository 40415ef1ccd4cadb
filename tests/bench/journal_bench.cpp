// What the journal costs: batches appended, written and synced one after the other, beside a plain write and fdatasync of the same size in the same
// directory; and how fast a journal is read. Figures of a disk vary: each pair runs in turns, and the median counts.
//
//   journal_bench [DIRECTORY [MEGABYTES]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/crc32c.h"
#include "io/posix_disk.h"
#include "journal/file_journal.h"

namespace {

using namespace sluice;
using namespace sluice::journal;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class T, class E>
T need(tl::expected<T, E> value) {
  SLUICE_CHECK(value.has_value());
  return std::move(*value);
}

class Directory {
 public:
  explicit Directory(const std::string& path) : path_(path) { std::filesystem::remove_all(path_); }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Raw {
 public:
  explicit Raw(io::Disk& disk) : file_(need(disk.open("raw", io::OpenMode::create))) {
    SLUICE_CHECK(file_->reserve(kBytes).has_value() && file_->sync().has_value());
  }
  void put(const std::vector<std::byte>& bytes) {
    if (at_ + bytes.size() > kBytes) at_ = 0;
    SLUICE_CHECK(file_->write(at_, bytes).has_value() && file_->sync().has_value());
    at_ += bytes.size();
  }

 private:
  static constexpr std::uint64_t kBytes = 64 << 20;
  std::unique_ptr<io::File> file_;
  std::uint64_t at_ = 0;
};

void appends(const std::string& above, std::size_t bytes, int count) {
  const Directory directory(above + "/sluice-bench-journal");
  const Directory beside(above + "/sluice-bench-raw");
  const auto disk = need(io::PosixDisk::open(directory.path()));
  const auto journal = need(FileJournal::open(*disk, {}, 1, {}));
  const auto raw_disk = need(io::PosixDisk::open(beside.path()));
  Raw raw_file(*raw_disk);
  const std::vector<std::byte> records(bytes - kBatchHeaderBytes, std::byte{7});
  const std::vector<std::byte> plain(bytes, std::byte{7});
  std::vector<double> ours;
  std::vector<double> theirs;
  const auto ours_once = [&] {
    const auto begin = Clock::now();
    journal->append(records);
    while (journal->durable() < journal->last()) {
      SLUICE_CHECK(journal->writer().write(0));
      journal->writer().sync(0);
    }
    ours.push_back(seconds_since(begin));
    journal->writer().tend(0);
  };
  const auto theirs_once = [&] {
    const auto begin = Clock::now();
    raw_file.put(plain);
    theirs.push_back(seconds_since(begin));
  };
  // In blocks, so that neither pays for what the other made the file system put off.
  constexpr int kBlock = 20;
  for (int done = 0; done < count; done += kBlock) {
    for (int i = 0; i < kBlock; ++i) ours_once();
    for (int i = 0; i < kBlock; ++i) theirs_once();
  }
  SLUICE_CHECK(journal->durable() == journal->last());
  const double a = median(ours);
  const double b = median(theirs);
  std::printf("append + sync %8zu bytes: %8.0f us, %7.1f MB/s; write + fdatasync %8.0f us; ratio %.2f\n", bytes,
              a * 1e6, static_cast<double>(bytes) / a / 1e6, b * 1e6, b / a);
}

void scans(const std::string& above, std::uint64_t megabytes, std::size_t batch) {
  const Directory directory(above + "/sluice-bench-scan");
  const auto disk = need(io::PosixDisk::open(directory.path()));
  WriterOptions options;
  options.sync = SyncMode::os;
  {
    const auto journal = need(FileJournal::open(*disk, options, 1, {}));
    const std::vector<std::byte> records(batch, std::byte{7});
    for (std::uint64_t written = 0; written < megabytes << 20; written += batch) {
      journal->append(records);
      while (journal->writer().step(0)) {
      }
    }
    journal->close();
    SLUICE_CHECK(!journal->failure());
  }
  std::vector<double> times;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 3; ++i) {
    bytes = 0;
    const auto begin = Clock::now();
    const auto found = need(scan(*disk, [&](const ScannedBatch& read) -> std::optional<std::string> {
      bytes += read.body.size();
      return std::nullopt;
    }));
    times.push_back(seconds_since(begin));
    SLUICE_CHECK(!found.damage && !found.torn);
  }
  std::printf("scan %.2f GB in batches of %zu bytes: %.2f s, %.2f GB/s\n", static_cast<double>(bytes) / 1e9, batch,
              median(times), static_cast<double>(bytes) / 1e9 / median(times));
}

void checksums() {
  const std::vector<std::byte> bytes(1 << 20, std::byte{7});
  const auto rate = [&](auto crc) {
    const auto begin = Clock::now();
    std::uint32_t sum = 0;
    for (int i = 0; i < 500; ++i) sum = crc(bytes, sum);
    return 500 * 1.048576e-3 / seconds_since(begin) + (sum == 1 ? 1e-9 : 0);
  };
  std::printf("crc32c: %.1f GB/s, by table %.1f GB/s\n", rate(crc32c), rate(crc32c_by_table));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string above = argc > 1 ? argv[1] : std::filesystem::temp_directory_path().string();
  const std::uint64_t megabytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'200;
  checksums();
  appends(above, 4 << 10, 400);
  appends(above, 64 << 10, 300);
  appends(above, 1 << 20, 100);
  scans(above, megabytes, 4 << 10);
  scans(above, megabytes, 256 << 10);
}
