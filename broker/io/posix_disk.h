#pragma once
// io/posix_disk.h: a directory of the system's file system as a Disk.
//
// Place    journal -> [posix_disk].
// Threads  as disk.h says.
// Owns     the directory's descriptor and, after lock(), that of the lock file.

#include "io/disk.h"

namespace sluice::io {

class PosixDisk final : public Disk {
 public:
  // Makes the directory when it is missing; the one above it must be there.
  static IoResult<std::unique_ptr<PosixDisk>> open(std::string directory);
  // Changes nothing: the directory must be there.
  static IoResult<std::unique_ptr<PosixDisk>> open_existing(std::string directory);
  ~PosixDisk() override;
  PosixDisk(const PosixDisk&) = delete;
  PosixDisk& operator=(const PosixDisk&) = delete;

  std::string path(std::string_view name) const override;
  IoResult<std::vector<std::string>> list() override;
  IoResult<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override;
  IoResult<void> rename(std::string_view from, std::string_view to) override;
  IoResult<void> remove(std::string_view name) override;
  IoResult<void> sync_directory() override;
  // The file is made when it is missing, and holds this process's id as text.
  IoResult<bool> lock(std::string_view name) override;
  void unlock() override;

 private:
  PosixDisk(std::string directory, int fd) : directory_(std::move(directory)), fd_(fd) {}

  const std::string directory_;
  const int fd_;
  int lock_fd_ = -1;
};

}  // namespace sluice::io
