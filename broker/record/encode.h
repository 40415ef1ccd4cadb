#pragma once
// record/encode.h: writes records, one after the other, into one block of bytes that is used again each turn.
//
// Place    recorder -> [encode] -> journal::Journal::append().
// Shapes   out: bytes(), in the order of the calls. Offsets are from its first byte.
// Threads  one. Not copied.
// Owns     its bytes; bytes() is valid until the next call that writes, or clear().
// Source   spec/journal.md section 5.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "record/buffer.h"
#include "record/record.h"

namespace sluice::record {

// A record's length is a u32.
inline constexpr std::size_t kRecordBytesMax = std::numeric_limits<std::uint32_t>::max();

class RecordWriter {
 public:
  RecordWriter() = default;
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // REQUIRES: no run of published messages is open.
  std::span<const std::byte> bytes() const;
  std::size_t size() const { return buffer_.size(); }
  // Keeps the room for the next turn. An open run is forgotten.
  void clear();

  // A run of messages for one queue, with consecutive keys, ids and, when `producer` is not 0, sequences.
  // REQUIRES for every other call that writes: no run is open.
  void begin_published(std::uint64_t queue, std::uint64_t first_key, std::uint64_t first_id, std::uint64_t published_ms,
                       std::uint64_t producer, std::uint64_t first_sequence);
  // Gives the offset at which the body's bytes (headers, then payload) begin. body.offset is not looked at.
  // REQUIRES: a run is open; priority is at most 9.
  std::size_t add_message(std::uint8_t priority, std::uint64_t due_ms, std::uint64_t expires_ms,
                          std::string_view dedup_key, std::string_view headers, std::string_view payload);
  // REQUIRES: at least one message was added, and the record is not larger than kRecordBytesMax.
  void end_published();
  bool in_published() const { return run_ != kNoRun; }
  // Of the run that is open, for callers that end one before it is too large.
  std::size_t published_bytes() const { return in_published() ? buffer_.size() - run_ : 0; }

  // message.body.offset and message.copies are not looked at. Gives the offset at which the body's bytes begin.
  // REQUIRES: at least one copy; priority is at most 9.
  std::size_t message(const Message& message, std::span<const Copy> copies);

  void marks(const Marks& marks);
  void queue(const Queue& queue);
  void queue_deleted(std::uint64_t queue);
  void bound(std::uint64_t queue, std::string_view pattern);
  void unbound(std::uint64_t queue, std::string_view pattern);
  // REQUIRES of this and all that follow with a count: it is at least 1.
  void delivered(std::uint64_t first_key, std::uint64_t first_lease, std::uint64_t count);
  void ended(How how, std::uint64_t first_key, std::uint64_t count);
  void returned(const Returned& returned);
  void dead_lettered(const DeadLettered& dead);
  void replayed(std::uint64_t key, std::uint64_t queue, std::uint64_t position);
  void producer(std::uint64_t producer, std::string_view name, std::uint64_t last_sequence,
                std::span<const AcceptedRange> accepted, std::span<const RefusedRange> refused);
  void refused(std::uint64_t producer, const RefusedRange& range);
  void accepted(std::uint64_t producer, const AcceptedRange& range);
  void producer_gone(std::uint64_t producer);
  void dedup_key(std::uint64_t queue, std::string_view key, std::uint64_t id, std::uint64_t at_ms);
  void opened(std::uint64_t at_ms);
  void closed(std::uint64_t at_ms);

  // Any record that was decoded. REQUIRES: as the function of its type.
  void write(const Record& record);

 private:
  static constexpr std::size_t kNoRun = std::numeric_limits<std::size_t>::max();

  // The head of a record, and room for `bytes` of fields: where the fields begin.
  std::byte* begin(Type type, std::size_t bytes);
  // Patches the length.
  void end(std::size_t record, const std::byte* end);

  Buffer buffer_;
  std::size_t run_ = kNoRun;   // where the open run's record begins
  std::size_t run_count_ = 0;  // where its count stands
  std::uint32_t run_messages_ = 0;
};

}  // namespace sluice::record
