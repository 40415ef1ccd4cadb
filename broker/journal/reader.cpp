#include "journal/reader.h"

#include <array>
#include <utility>

#include "base/crc32c.h"
#include "journal/writer.h"

namespace sluice::journal {
namespace {

constexpr std::size_t kFilesMax = 64;

}  // namespace

void Reader::ask(const Request& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
}

void Reader::fetch(std::uint64_t ticket, Location at, std::size_t bytes) { ask({Kind::fetch, ticket, at, bytes, 0}); }
void Reader::fetch_batch(std::uint64_t ticket, std::uint32_t segment) { ask({Kind::batch, ticket, {}, 0, segment}); }
void Reader::release(std::uint32_t segment) { ask({Kind::release, 0, {}, 0, segment}); }

void Reader::answer(Fetched fetched) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(fetched));
}

std::optional<Fetched> Reader::take() {
  const std::lock_guard lock(mutex_);
  if (answers_.empty()) return std::nullopt;
  Fetched fetched = std::move(answers_.front());
  answers_.pop_front();
  return fetched;
}

bool Reader::has_answers() const {
  const std::lock_guard lock(mutex_);
  return !answers_.empty();
}

bool Reader::step() {
  if (status_.failed()) return false;
  Request request;
  {
    const std::lock_guard lock(mutex_);
    if (requests_.empty()) return false;
    request = requests_.front();
    requests_.pop_front();
  }
  switch (request.kind) {
    case Kind::fetch:
      read_bytes(request);
      break;
    case Kind::batch:
      read_batch(request);
      break;
    case Kind::release:
      files_.erase(request.segment);  // an open file would keep its room
      writer_.remove(request.segment);
      break;
  }
  return !status_.failed();
}

void Reader::fail(std::uint32_t segment, std::uint64_t offset, const std::string& reason) {
  status_.fail(disk_.path(segment_name(segment)) + ", offset " + std::to_string(offset) + ": " + reason);
}

io::File* Reader::file_of(std::uint32_t segment) {
  if (const auto known = files_.find(segment); known != files_.end()) return known->second.get();
  auto file = disk_.open(segment_name(segment), io::OpenMode::read);
  if (!file) {
    status_.fail(file.error().text());
    return nullptr;
  }
  if (files_.size() >= kFilesMax) files_.erase(files_.begin());
  return (files_[segment] = std::move(*file)).get();
}

bool Reader::read(std::uint32_t segment, std::uint64_t offset, std::span<std::byte> into) {
  io::File* file = file_of(segment);
  if (file == nullptr) return false;
  const auto got = file->read(offset, into);
  if (!got) {
    status_.fail(got.error().text());
    return false;
  }
  if (*got < into.size()) {
    fail(segment, offset + *got, "the file ends within what was written");
    return false;
  }
  return true;
}

void Reader::read_bytes(const Request& request) {
  Fetched fetched{request.ticket, request.at, std::vector<std::byte>(request.bytes), {}, {}, false};
  if (read(segment_of(request.at), offset_of(request.at), fetched.bytes)) answer(std::move(fetched));
}

std::optional<BatchHeader> Reader::header_at(std::uint32_t segment, std::uint64_t offset) {
  std::array<std::byte, kBatchHeaderBytes> bytes{};
  if (!read(segment, offset, bytes)) return std::nullopt;
  auto header = decode_batch(bytes, journal_);
  if (!header) fail(segment, offset, "the batch's header does not fit its checksum");
  return header;
}

// Reads the header at offset_, and goes on while there is nothing in a batch.
bool Reader::skip_empty() {
  for (;;) {
    const auto header = header_at(segment_, offset_);
    if (!header) return false;
    next_ = *header;
    if (header->turns > 0 || (header->flags & kLastOfSegment) != 0) return true;
    offset_ += batch_bytes(header->length);
  }
}

void Reader::read_batch(const Request& request) {
  if (request.segment != segment_) {
    segment_ = request.segment;
    offset_ = kSegmentHeaderBytes;
    if (!skip_empty()) return;
  }
  Fetched fetched;
  fetched.ticket = request.ticket;
  fetched.base = location(segment_, offset_ + kBatchHeaderBytes);
  fetched.first = Sequence{next_.first_sequence};
  fetched.last = Sequence{next_.first_sequence + next_.turns - 1};
  if (next_.turns > 0) {
    fetched.bytes.resize(next_.length);
    if (!read(segment_, offset_ + kBatchHeaderBytes, fetched.bytes)) return;
    if (crc32c(fetched.bytes) != next_.body_crc)
      return fail(segment_, offset_, "the batch's records do not fit their checksum");
    if ((next_.flags & kLastOfSegment) == 0) {
      offset_ += batch_bytes(next_.length);
      if (!skip_empty()) return;
    } else {
      next_.turns = 0;
    }
  }
  fetched.last_of_part = next_.turns == 0;
  answer(std::move(fetched));
}

}  // namespace sluice::journal
