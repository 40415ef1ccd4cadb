#pragma once
// record/decode.h: reads records, strictly: what it gives is whole and has only values that spec/journal.md names.
//
// Place    journal -> [decode] -> restorer, compaction and the tools.
// Shapes   in: the records of whole turns. Exactly one sequence of bytes is right for each meaning: what was read and is written again
//          gives the same bytes.
// Errors   a DecodeError with the byte at which the record begins. Nothing more is read after the first.
// Threads  one. Borrows the bytes; they outlive the reader and what it gave.
// Source   spec/journal.md section 5.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "record/record.h"

namespace sluice::record {

struct DecodeError {
  std::size_t offset = 0;  // of the record, in the reader's bytes
  std::string text;        // one line: "ended: count: must be at least 1, is 0"
};

class RecordReader {
 public:
  explicit RecordReader(std::span<const std::byte> bytes)
      : base_(bytes.data()), at_(base_), end_(base_ + bytes.size()) {}

  // nullopt: all were read, or error() says why not. Ask it.
  std::optional<Record> next();
  const std::optional<DecodeError>& error() const { return error_; }
  // Where the record that next() gave last begins, and the bytes from its type to its end.
  std::size_t offset() const { return static_cast<std::size_t>(record_ - base_); }
  std::size_t record_bytes() const { return static_cast<std::size_t>(at_ - record_); }

 private:
  bool read(std::optional<Record>& out);
  bool fail(std::string text);

  const std::byte* base_;
  const std::byte* at_;
  const std::byte* end_;
  const std::byte* record_ = base_;
  std::optional<DecodeError> error_;
};

}  // namespace sluice::record
