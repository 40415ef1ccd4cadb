// Whatever happens to a file, a journal gives the same records again, or it is refused with file and offset. Never other records.

#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"
#include "journal/repair.h"

using namespace sluice;
using namespace sluice::journal;
using namespace sluice::journal::test;

namespace {

constexpr std::size_t kMax = 200;
const FileJournalOptions kTiny{SyncMode::always, 1'000, 1'536};

// Three segments that hold something and one prepared ahead. Its turns hold no zero byte.
struct Image {
  SimDisk::Image files;
  std::uint64_t turns = 0;
};

Image three_segments(bool orderly) {
  SimDisk disk;
  auto journal = open(disk, kTiny);
  REQUIRE(journal);
  while (!disk.exists(segment_name(4))) append_turns(**journal, 1, kMax);
  append_turns(**journal, 2, kMax);
  if (orderly) (*journal)->close();
  REQUIRE_FALSE(disk.exists(segment_name(5)));
  return {disk.image(), raw((*journal)->last())};
}

struct Outcome {
  bool refused = false;
  bool same = false;
  std::uint64_t last = 0;
  std::optional<TornTail> torn;
  std::string text;
};

Outcome look(SimDisk& disk, std::uint64_t turns) {
  Replayed replayed;
  const auto found = scan(disk, replayed.sink());
  REQUIRE(found);
  Outcome outcome;
  outcome.refused = found->damage.has_value();
  if (found->damage) outcome.text = found->damage->text();
  outcome.same = !found->damage && are_turns(replayed, 1, turns, kMax);
  outcome.last = replayed.last;
  outcome.torn = found->torn;
  return outcome;
}

bool refuses(const Outcome& outcome, const std::string& file) {
  return outcome.refused && outcome.text.find("/sim/" + file + ", offset ") == 0;
}

// The bytes at which a flipped bit may give the same records: padding, and what no batch covers.
std::vector<bool> unlooked(const std::vector<std::byte>& file) {
  std::vector<bool> free(file.size(), true);
  std::fill_n(free.begin(), kSegmentHeaderBytes, false);
  std::size_t at = kSegmentHeaderBytes;
  while (at + kBatchHeaderBytes <= file.size()) {
    const auto header = decode_batch(std::span(file).subspan(at).first<kBatchHeaderBytes>(), kId);
    if (!header) break;
    std::fill_n(free.begin() + static_cast<std::ptrdiff_t>(at), kBatchHeaderBytes + header->length, false);
    at += static_cast<std::size_t>(batch_bytes(header->length));
  }
  return free;
}

void flip_every_bit(const Image& image) {
  SimDisk disk;
  disk.load(image.files);
  REQUIRE(look(disk, image.turns).same);
  std::uint64_t same = 0;
  for (const auto& [file, bytes] : image.files) {
    const auto free = unlooked(bytes);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      disk.flip(file, bit);
      const Outcome outcome = look(disk, image.turns);
      disk.flip(file, bit);
      CAPTURE(file);
      CAPTURE(bit);
      CAPTURE(outcome.text);
      if (outcome.same && free[bit / 8]) {
        ++same;
      } else {
        REQUIRE(outcome.refused);
        REQUIRE(outcome.text.find(".segment, offset ") != std::string::npos);
      }
    }
  }
  CHECK(same > 0);
}

// The last batch of the last segment in use: where it begins and ends.
struct LastBatch {
  std::string file;
  std::size_t begin = 0;
  std::size_t end = 0;
};

LastBatch last_batch(SimDisk& disk) {
  const auto found = scan(disk);
  REQUIRE(found);
  const SegmentInfo& segment = found->segments.back();
  return {segment_name(segment.index), static_cast<std::size_t>(segment.last_batch),
          static_cast<std::size_t>(segment.end)};
}

void swap_files(SimDisk& disk, std::uint32_t a, std::uint32_t b) {
  const auto kept = disk.contents(segment_name(a));
  disk.set_contents(segment_name(a), disk.contents(segment_name(b)));
  disk.set_contents(segment_name(b), kept);
}

}  // namespace

TEST_CASE(
    "damage: C15: every flipped bit gives the same records, or a refusal with file and offset (after an orderly "
    "stop)") {
  flip_every_bit(three_segments(true));
}

TEST_CASE("damage: C15: every flipped bit gives the same records, or a refusal with file and offset (after a kill)") {
  flip_every_bit(three_segments(false));
}

TEST_CASE("damage: of the last batch any number of sectors may be missing, and it is cut; of those before it none") {
  const Image image = three_segments(false);
  SimDisk disk;
  disk.load(image.files);
  const LastBatch last = last_batch(disk);
  const auto whole = disk.contents(last.file);
  const std::size_t first_sector = last.begin / kSectorBytes;
  const std::size_t sectors = (last.end - 1) / kSectorBytes + 1 - first_sector;
  for (std::uint64_t lost = 1; lost < (std::uint64_t{1} << sectors); ++lost) {
    auto bytes = whole;
    for (std::size_t i = 0; i < sectors; ++i) {
      if ((lost >> i & 1) == 0) continue;
      const std::size_t from = std::max(last.begin, (first_sector + i) * kSectorBytes);
      const std::size_t to = std::min(last.end, (first_sector + i + 1) * kSectorBytes);
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(to),
                std::byte{0});
    }
    disk.set_contents(last.file, bytes);
    const Outcome outcome = look(disk, image.turns - 1);
    CAPTURE(lost);
    CAPTURE(outcome.text);
    REQUIRE(outcome.same);
  }
}

TEST_CASE("damage: every prefix of the last batch is cut, or refused because its sectors are there; never read") {
  const Image image = three_segments(false);
  SimDisk disk;
  disk.load(image.files);
  const LastBatch last = last_batch(disk);
  const auto whole = disk.contents(last.file);
  std::uint64_t cut = 0;
  for (std::size_t end = last.begin; end < last.end; ++end) {
    auto bytes = whole;
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(end), bytes.end(), std::byte{0});
    disk.set_contents(last.file, bytes);
    const Outcome outcome = look(disk, image.turns - 1);
    CAPTURE(end);
    if (outcome.same) {
      REQUIRE(outcome.torn.has_value() == (end != last.begin));
      if (outcome.torn) REQUIRE(outcome.torn->offset == last.begin);
      if (outcome.torn) REQUIRE(outcome.torn->bytes <= end - last.begin);
      if (outcome.torn) REQUIRE(outcome.torn->bytes > 0);
      ++cut;
    } else if (outcome.refused) {
      // Padding that was zeros anyway is not reached: the batch is whole then.
      REQUIRE(refuses(outcome, last.file));
    } else {
      // Padding only: nothing is missing.
      REQUIRE(outcome.last == image.turns);
      REQUIRE(last.end - end < kAlignment);
    }
  }
  CHECK(cut > 0);
}

TEST_CASE("damage: a file that ends too early is refused, wherever it ends") {
  const Image image = three_segments(true);
  SimDisk disk;
  for (const auto& [file, bytes] : image.files) {
    for (std::size_t size = 0; size < bytes.size(); size += 7) {
      disk.load(image.files);
      disk.set_contents(file, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
      REQUIRE(refuses(look(disk, image.turns), file));
    }
  }
}

TEST_CASE("damage: a zeroed batch is refused unless it is the last one") {
  const Image image = three_segments(true);
  SimDisk disk;
  disk.load(image.files);
  for (const auto& [file, bytes] : image.files) {
    std::size_t at = kSegmentHeaderBytes;
    while (const auto header = decode_batch(std::span(bytes).subspan(at).first<kBatchHeaderBytes>(), kId)) {
      auto zeroed = bytes;
      std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(at), batch_bytes(header->length), std::byte{0});
      disk.set_contents(file, zeroed);
      const Outcome outcome = look(disk, image.turns);
      CAPTURE(file);
      CAPTURE(at);
      CAPTURE(header->turns);
      CAPTURE(outcome.text);
      CAPTURE(outcome.last);
      REQUIRE((outcome.same || refuses(outcome, file)));
      REQUIRE(outcome.same == (file == segment_name(3) && header->turns == 0));  // the end of an orderly stop
      at += static_cast<std::size_t>(batch_bytes(header->length));
    }
    disk.set_contents(file, bytes);
  }
}

TEST_CASE("damage: a segment that is missing is refused by its name, the first, the middle and the last") {
  const Image image = three_segments(true);
  for (std::uint32_t index = 2; index <= 3; ++index) {
    SimDisk disk;
    disk.load(image.files);
    REQUIRE(disk.remove(segment_name(index)));
    CHECK(refuses(look(disk, image.turns), segment_name(index)));
  }
  SimDisk disk;
  disk.load(image.files);
  REQUIRE(disk.remove(segment_name(4)));
  REQUIRE(disk.remove(segment_name(3)));
  CHECK(refuses(look(disk, image.turns), segment_name(3)));
  disk.load(image.files);
  REQUIRE(disk.remove(segment_name(1)));
  CHECK(refuses(look(disk, image.turns), segment_name(1)));
  disk.load(image.files);
  REQUIRE(disk.remove(segment_name(4)));
  CHECK(look(disk, image.turns).same);  // nothing is in it yet
}

TEST_CASE("damage: swapped, renamed, older and foreign segments are refused") {
  const Image image = three_segments(true);
  SimDisk disk;
  disk.load(image.files);
  swap_files(disk, 1, 2);
  CHECK(refuses(look(disk, image.turns), segment_name(1)));

  // As it was when it was not full yet.
  SimDisk earlier;
  {
    auto journal = open(earlier, kTiny);
    REQUIRE(journal);
    append_turns(**journal, 3, kMax);
  }
  disk.load(image.files);
  disk.set_contents(segment_name(1), earlier.contents(segment_name(1)));
  CHECK(refuses(look(disk, image.turns), segment_name(1)));

  // Of another journal, at the same place of its life.
  SimDisk other;
  {
    auto journal = FileJournal::open(other, kTiny, kId + 1, {});
    REQUIRE(journal);
    append_turns(**journal, image.turns, kMax);
  }
  for (std::uint32_t index = 2; index <= 4; ++index) {
    disk.load(image.files);
    disk.set_contents(segment_name(index), other.contents(segment_name(index)));
    CHECK(refuses(look(disk, image.turns), segment_name(index)));
  }
}

TEST_CASE("damage: writes that went astray or never came are refused when something confirmed followed") {
  for (std::uint64_t n = 1; n <= 8; ++n) {
    for (const bool lost : {true, false}) {
      SimDisk disk;
      auto journal = open(disk, kTiny);
      REQUIRE(journal);
      append_turns(**journal, n, kMax);
      if (lost) {
        disk.lose_next_write();
      } else {
        disk.misdirect_next_write(kSegmentHeaderBytes);
      }
      append_turns(**journal, 3, kMax);
      const Outcome outcome = look(disk, n + 3);
      CAPTURE(n);
      CAPTURE(lost);
      CHECK(outcome.refused);
    }
  }
}

TEST_CASE("damage: what cannot be read is refused, and nothing is changed") {
  const Image image = three_segments(true);
  SimDisk disk;
  disk.load(image.files);
  for (std::uint64_t n = 1; n < 20; ++n) {
    const auto changes = disk.changes();
    const auto reads = disk.calls(Call::read);
    disk.fail(Call::read, n, EIO);
    const auto journal = open(disk, kTiny);
    if (disk.calls(Call::read) - reads < n) break;
    REQUIRE_FALSE(journal);
    CHECK(journal.error().kind == OpenErrorKind::damaged);
    CHECK(journal.error().text.find("Input/output error") != std::string::npos);
    CHECK(disk.changes() == changes);
  }
}

TEST_CASE("damage: bytes that look like a batch inside a message do not make a crash damage") {
  SimDisk disk;
  auto journal = open(disk, kTiny);
  REQUIRE(journal);
  append_turns(**journal, 1, kMax);
  // A header as another journal would write it, far ahead.
  std::vector<std::byte> message(800, std::byte{1});
  BatchHeader header;
  header.first_sequence = header.durable = 1'000;
  header.turns = 1;
  header.epoch = 9;
  for (std::size_t at = 0; at + kBatchHeaderBytes <= message.size(); at += 64)
    encode(header, kId + 1, std::span(message).subspan(at).first<kBatchHeaderBytes>());
  (*journal)->append(message);
  run(**journal);
  const LastBatch last = last_batch(disk);
  auto bytes = disk.contents(last.file);
  std::fill_n(bytes.begin() + kSectorBytes, kSectorBytes, std::byte{0});
  disk.set_contents(last.file, bytes);
  const Outcome outcome = look(disk, 1);
  CHECK(outcome.same);
  CHECK(outcome.torn);
}

TEST_CASE("damage: repair says what goes, does it, and what is left is good") {
  const Image image = three_segments(true);
  for (const auto& [file, bytes] : image.files) {
    for (const std::size_t byte : {std::size_t{20}, std::size_t{70}, std::size_t{150}, std::size_t{400}}) {
      SimDisk disk(byte);
      disk.load(image.files);
      disk.flip(file, byte * 8);
      CAPTURE(file);
      CAPTURE(byte);
      for (std::uint64_t stop = 1;; ++stop) {  // the power goes at each of its calls
        const auto found = scan(disk);
        REQUIRE(found);
        if (!found->damage) break;
        const auto plan = plan_repair(disk, *found);
        REQUIRE(plan);
        CHECK(plan->kept_last_sequence == (found->segments.empty() ? 0 : found->last_sequence));
        if (stop == 1 && plan->kept_last_sequence + 2 < image.turns && file != segment_name(1)) {
          CHECK(plan->last_sequence == image.turns);
          CHECK(plan->turns <= image.turns - plan->kept_last_sequence);
          CHECK(plan->bytes > 0);
        }
        disk.stop_after(stop);
        const auto done = repair(disk, *found, *plan);
        if (disk.stopped()) {
          disk.crash();
          continue;
        }
        disk.do_not_stop();
        REQUIRE(done);
        disk.crash();
        const Outcome outcome = look(disk, plan->kept_last_sequence);
        CAPTURE(outcome.text);
        CHECK(outcome.same);
        break;
      }
      CHECK(open(disk, kTiny));
    }
  }
}

TEST_CASE("damage: repair of a journal whose first segments are missing loses nothing more") {
  const Image image = three_segments(true);
  SimDisk disk;
  disk.load(image.files);
  REQUIRE(disk.remove(segment_name(1)));
  const auto found = scan(disk);
  REQUIRE(found);
  const auto plan = plan_repair(disk, *found);
  REQUIRE(plan);
  CHECK(plan->forgets_missing);
  REQUIRE(repair(disk, *found, *plan));
  Replayed replayed;
  REQUIRE(open(disk, kTiny, replayed.sink()));
  CHECK(replayed.first > 1);
  CHECK(are_turns(replayed, replayed.first, image.turns, kMax));
}

TEST_CASE("damage: repair does not touch what it does not understand") {
  SimDisk disk;
  REQUIRE(disk.open("photos.zip", io::OpenMode::create));
  const auto found = scan(disk);
  REQUIRE(found);
  CHECK_FALSE(plan_repair(disk, *found));
}
