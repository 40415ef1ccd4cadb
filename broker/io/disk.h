#pragma once
// io/disk.h: the files of one directory, behind an interface that the simulator implements too.
//
// Place    journal -> [disk].
// Errors   every call may fail with an IoError, which names call, file and the system's number. Whoever writes stops at the first
//          one: what a file holds after a failed sync is not known, and the next sync may say that all is well.
// Threads  any; two calls on one file at a time only where both read.
// Source   spec/journal.md section 1.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice::io {

struct IoError {
  std::string call;          // "pwrite"
  std::string file;          // a path that a person can use
  int number = 0;            // errno
  std::string text() const;  // "pwrite /var/lib/sluice/0000000001.segment: No space left on device"
};

template <class T>
using IoResult = tl::expected<T, IoError>;

class File {
 public:
  virtual ~File() = default;
  virtual IoResult<std::uint64_t> size() = 0;
  // Fewer bytes than asked for only at the end of the file.
  virtual IoResult<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) = 0;
  // All of it, or an error.
  virtual IoResult<void> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Data and whatever of the file's own description is needed to read it (fdatasync).
  virtual IoResult<void> sync() = 0;
  // Makes the file `bytes` long and reserves room for all of it; what was not written reads as zeros.
  virtual IoResult<void> reserve(std::uint64_t bytes) = 0;
  // From `offset` to the end of the file: zeros.
  virtual IoResult<void> clear_from(std::uint64_t offset) = 0;
};

enum class OpenMode : std::uint8_t { read, write, create };  // create: must not exist; the others: must

class Disk {
 public:
  virtual ~Disk() = default;
  // For messages to people.
  virtual std::string path(std::string_view name) const = 0;
  // Names of the directory's entries, in order.
  virtual IoResult<std::vector<std::string>> list() = 0;
  virtual IoResult<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) = 0;
  virtual IoResult<void> rename(std::string_view from, std::string_view to) = 0;
  virtual IoResult<void> remove(std::string_view name) = 0;
  // Names that were made, changed or removed are safe.
  virtual IoResult<void> sync_directory() = 0;
  // False: another process holds it. Held until unlock(), or until this object goes.
  virtual IoResult<bool> lock(std::string_view name) = 0;
  virtual void unlock() = 0;
};

}  // namespace sluice::io
