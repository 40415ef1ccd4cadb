#include "journal/scan.h"

#include <algorithm>
#include <memory>

#include "base/crc32c.h"
#include "journal/tail.h"
#include "journal/window.h"

namespace sluice::journal {
namespace {

constexpr std::uint64_t kProgressBytes = 16 << 20;

class Scanner {
 public:
  Scanner(io::Disk& disk, const BatchSink& sink, const Progress& progress)
      : disk_(disk), sink_(sink), progress_(progress) {}

  io::IoResult<ScanResult> run() {
    if (auto done = find_segments(); !done) return tl::unexpected(done.error());
    if (result_.damage || indices_.empty()) return std::move(result_);
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      if (!enter(i) || !read_batches()) break;
      if (!ended_) {
        judge(i);
        break;
      }
      if (i + 1 == indices_.size())
        damage(segment_name(indices_[i] + 1), 0, "the file is missing: the segment before it says that it is there");
    }
    if (!result_.damage) check_oldest();
    if (progress_) progress_(bytes_all_, bytes_all_);
    return std::move(result_);
  }

 private:
  bool damage(std::string_view name, std::uint64_t offset, std::string reason, DamageKind kind = DamageKind::damage) {
    return refuse({kind, disk_.path(name), offset, std::move(reason)});
  }
  bool refuse(Damage damage) {
    result_.damage = std::move(damage);
    return false;
  }

  io::IoResult<void> find_segments() {
    const auto names = disk_.list();
    if (!names) return tl::unexpected(names.error());
    for (const std::string& name : *names) {
      if (const auto index = segment_index(name)) {
        indices_.push_back(*index);
      } else if (is_new_segment_name(name)) {
        result_.unfinished.push_back(name);
      }
    }
    if (const auto foreign = foreign_name(*names))
      damage(*foreign, 0, "the directory holds no journal but other files; it is not touched", DamageKind::foreign);
    return measure();
  }

  io::IoResult<void> measure() {
    if (!progress_) return {};
    for (const std::uint32_t index : indices_) {
      const auto file = disk_.open(segment_name(index), io::OpenMode::read);
      if (!file) return tl::unexpected(file.error());
      const auto size = (*file)->size();
      if (!size) return tl::unexpected(size.error());
      bytes_all_ += *size;
    }
    return {};
  }

  // Opens the i-th segment and checks that it continues the one before.
  bool enter(std::size_t i) {
    const std::uint32_t index = indices_[i];
    name_ = segment_name(index);
    if (i > 0 && index != indices_[i - 1] + 1)
      return damage(segment_name(indices_[i - 1] + 1), 0, "the file is missing between two segments");
    auto file = disk_.open(name_, io::OpenMode::read);
    if (!file) return damage(name_, 0, file.error().text());
    const auto header =
        read_segment_header(disk_, **file, index, i > 0 ? std::optional<std::uint64_t>(result_.journal) : std::nullopt);
    if (!header) return refuse(header.error());
    if (i == 0 ? header->first_sequence == 0 : header->first_sequence != sequence_)
      return damage(name_, 24,
                    "the segment begins with sequence " + std::to_string(header->first_sequence) +
                        (i == 0 ? std::string() : " where " + std::to_string(sequence_) + " was to come"));
    if (i > 0 && header->chain != result_.chain)
      return damage(name_, 32, "the segment does not continue the one before it (chain)");
    take(*header);
    file_ = std::move(*file);
    return true;
  }

  void take(const SegmentHeader& header) {
    result_.journal = header.journal;
    result_.epoch = std::max(result_.epoch, header.epoch);
    result_.chain = header.chain;
    sequence_ = header.first_sequence;
    result_.last_sequence = sequence_ - 1;
    ended_ = false;
    result_.segments.push_back({header.index, header.bytes, sequence_, sequence_ - 1, kSegmentHeaderBytes, 0, false});
  }

  // True: up to where no good batch is. False: it is over.
  bool read_batches() {
    Window window(*file_, segment().bytes);
    while (!ended_) {
      const auto batch = read_batch(window);
      if (!batch) return damage(name_, at(), batch.error().text());
      if (!*batch) return true;
      if (!take(**batch)) return false;
    }
    bytes_done_ += segment().bytes;
    return true;
  }

  struct Read {
    BatchHeader header;
    std::span<const std::byte> body;
  };

  // nullopt: no good one here.
  io::IoResult<std::optional<Read>> read_batch(Window& window) {
    const auto none = std::optional<Read>();
    if (at() + kBatchHeaderBytes > segment().bytes) return none;
    auto bytes = window.at(at(), kBatchHeaderBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    if (bytes->size() < kBatchHeaderBytes) return none;
    const auto header = decode_batch(bytes->first<kBatchHeaderBytes>(), result_.journal);
    if (!header || header->first_sequence != sequence_ || header->chain != result_.chain || header->epoch < epoch_ ||
        at() + batch_bytes(header->length) > segment().bytes)
      return none;
    const std::size_t wanted = kBatchHeaderBytes + header->length;
    bytes = window.at(at(), wanted);
    if (!bytes) return tl::unexpected(bytes.error());
    const auto body = bytes->subspan(kBatchHeaderBytes);
    if (bytes->size() < wanted || crc32c(body) != header->body_crc) return none;
    return std::optional<Read>(Read{*header, body});
  }

  bool take(const Read& batch) {
    const BatchHeader& header = batch.header;
    if (header.turns > 0 && sink_) {
      const ScannedBatch scanned{location(segment().index, at() + kBatchHeaderBytes), Sequence{sequence_},
                                 Sequence{sequence_ + header.turns - 1}, header.epoch, batch.body};
      if (auto reason = sink_(scanned)) return damage(name_, at(), std::move(*reason));
    }
    sequence_ += header.turns;
    epoch_ = header.epoch;
    result_.epoch = std::max(result_.epoch, epoch_);
    result_.chain = header.crc;
    result_.oldest = header.oldest;
    result_.last_sequence = sequence_ - 1;
    ++result_.batches;
    segment().last_sequence = sequence_ - 1;
    segment().last_batch = at();
    segment().end += batch_bytes(header.length);
    segment().ended = ended_ = (header.flags & kLastOfSegment) != 0;
    report_progress();
    return true;
  }

  void report_progress() {
    const std::uint64_t done = bytes_done_ + at();
    if (!progress_ || done < reported_ + kProgressBytes) return;
    reported_ = done;
    progress_(done, bytes_all_);
  }

  void judge(std::size_t i) {
    const std::vector<std::uint32_t> later(indices_.begin() + static_cast<std::ptrdiff_t>(i) + 1, indices_.end());
    for (std::size_t j = 0; j < later.size(); ++j) {
      if (later[j] != segment().index + 1 + j) {
        damage(segment_name(static_cast<std::uint32_t>(segment().index + 1 + j)), 0,
               "the file is missing between two segments");
        return;
      }
    }
    const Expected expected{result_.journal, sequence_, result_.chain, epoch_, segment().index, at(), segment().bytes};
    TailVerdict verdict = judge_tail(disk_, *file_, expected, later);
    result_.damage = std::move(verdict.damage);
    result_.torn = std::move(verdict.torn);
    result_.spares = std::move(verdict.spares);
  }

  void check_oldest() {
    result_.misses_oldest = result_.oldest != 0 && result_.segments.front().index > result_.oldest;
    if (result_.misses_oldest)
      damage(segment_name(result_.oldest), 0, "the file is missing: the journal says that it is still needed");
  }

  SegmentInfo& segment() { return result_.segments.back(); }
  std::uint64_t at() { return segment().end; }

  io::Disk& disk_;
  const BatchSink& sink_;
  const Progress& progress_;
  ScanResult result_;
  std::vector<std::uint32_t> indices_;
  std::string name_;
  std::unique_ptr<io::File> file_;
  std::uint64_t sequence_ = 0;  // of the next batch
  std::uint32_t epoch_ = 0;     // of the batch before
  bool ended_ = false;          // the segment, by its last batch
  std::uint64_t bytes_done_ = 0;
  std::uint64_t bytes_all_ = 0;
  std::uint64_t reported_ = 0;
};

}  // namespace

std::string Damage::text() const {
  const std::string place = kind == DamageKind::foreign ? "" : ", offset " + std::to_string(offset);
  return file + place + ": " + reason;
}

std::optional<std::string> foreign_name(const std::vector<std::string>& names) {
  std::optional<std::string> foreign;
  for (const std::string& name : names) {
    if (segment_index(name)) return std::nullopt;
    if (!is_new_segment_name(name) && name != kLockName && name != "lost+found") foreign = name;
  }
  return foreign;
}

io::IoResult<ScanResult> scan(io::Disk& disk, const BatchSink& sink, const Progress& progress) {
  return Scanner(disk, sink, progress).run();
}

}  // namespace sluice::journal
