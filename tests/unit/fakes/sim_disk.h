#pragma once
// fakes/sim_disk.h: a disk in memory that forgets, at a crash, what was not synced, and fails where it is told to.
//
// Place    tests and the simulator: journal -> [sim_disk].
// Shapes   a crash keeps all that was synced, and of the rest any subset of 512-byte sectors (each as of any write since) and of directory
//          operations. Deterministic: all chance comes from the seed.
// Errors   injected ones look like the system's. After the call at which power goes every call fails, until crash().
// Threads  one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/disk.h"

namespace sluice::test {

enum class Call : std::uint8_t {
  list,
  open,
  size,
  read,
  write,
  sync,
  reserve,
  clear,
  rename,
  remove,
  sync_directory,
  lock
};
constexpr std::size_t kCallCount = 12;

class SimDisk final : public io::Disk {
 public:
  explicit SimDisk(std::uint64_t seed = 1);
  ~SimDisk() override;
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  std::string path(std::string_view name) const override;
  io::IoResult<std::vector<std::string>> list() override;
  io::IoResult<std::unique_ptr<io::File>> open(std::string_view name, io::OpenMode mode) override;
  io::IoResult<void> rename(std::string_view from, std::string_view to) override;
  io::IoResult<void> remove(std::string_view name) override;
  io::IoResult<void> sync_directory() override;
  io::IoResult<bool> lock(std::string_view name) override;
  void unlock() override;

  // --- faults

  // The n-th call of this kind from now on (1: the next one) fails, or all from there.
  void fail(Call call, std::uint64_t n, int number, bool for_ever = false);
  void heal();
  // Bytes that all files together may reserve; more is ENOSPC.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  // At the n-th changing call from now on (1: the next one) the power goes: it takes effect or not, and all later calls fail.
  void stop_after(std::uint64_t n) { stop_at_ = changes_ + n; }
  void do_not_stop() { stop_at_.reset(); }
  // The next write does nothing and says it did; or goes to another offset of its file.
  void lose_next_write() { lose_next_ = true; }
  void misdirect_next_write(std::uint64_t offset) { misdirect_next_to_ = offset; }

  // The power went and is back. Open files are of no use any more, the lock is free, faults are gone.
  void crash();
  bool stopped() const { return stopped_; }

  // --- looking

  // Changing calls so far: write, sync, reserve, clear, rename, remove, sync_directory, and open to create.
  std::uint64_t changes() const { return changes_; }
  std::uint64_t calls(Call call) const { return calls_[static_cast<std::size_t>(call)]; }
  bool exists(std::string_view name) const { return names_.contains(name); }
  std::uint64_t used_bytes() const;
  // As a process sees it. REQUIRES: exists().
  const std::vector<std::byte>& contents(std::string_view name) const;
  // Changes bytes behind everybody's back, as if they were synced so. REQUIRES: exists().
  void set_contents(std::string_view name, std::vector<std::byte> bytes);
  void flip(std::string_view name, std::uint64_t bit);
  // A copy of all that is there as if synced, to start other tests from.
  using Image = std::map<std::string, std::vector<std::byte>, std::less<>>;
  Image image() const;
  void load(const Image& image);

 private:
  friend class SimFile;
  static constexpr std::size_t kSectorBytes = 512;
  using Sector = std::array<std::byte, kSectorBytes>;

  struct Inode {
    std::vector<std::byte> bytes;
    std::uint64_t synced_size = 0;
    // What a sector held before, oldest first; the first one is synced.
    std::unordered_map<std::uint64_t, std::vector<Sector>> unsynced;
    std::vector<std::uint64_t> unsynced_order;  // so that chance falls in an order of its own, not in that of a hash
  };
  using Names = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;
  struct NameChange {  // first one name goes, then another one comes; either may be empty
    std::string gone;
    std::string come;
    std::shared_ptr<Inode> inode;
  };
  struct Fault {
    std::uint64_t at = 0;
    int number = 0;
    bool for_ever = false;
  };

  // An error number, 0: go on.
  int before(Call call);
  // Whether a changing call takes effect; sets `number` if it is to fail.
  bool changes(Call call, int& number);
  bool chance() { return (random_() & 1) != 0; }

  void touch(Inode& inode, std::uint64_t offset, std::uint64_t bytes);
  void put(Inode& inode, std::uint64_t offset, std::span<const std::byte> bytes);
  static void settle(Inode& inode);
  void lose(Inode& inode);
  tl::unexpected<io::IoError> error(Call call, std::string_view name, int number) const;

  std::mt19937_64 random_;
  Names names_;
  Names synced_names_;
  std::vector<NameChange> unsynced_names_;
  bool locked_ = false;
  std::uint64_t generation_ = 0;  // of open files

  std::array<std::uint64_t, kCallCount> calls_{};
  std::array<std::optional<Fault>, kCallCount> faults_{};
  std::optional<std::uint64_t> capacity_;
  std::uint64_t changes_ = 0;
  std::optional<std::uint64_t> stop_at_;
  bool stopped_ = false;
  bool lose_next_ = false;
  std::optional<std::uint64_t> misdirect_next_to_;
};

}  // namespace sluice::test
