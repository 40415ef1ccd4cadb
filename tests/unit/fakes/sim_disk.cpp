#include "sim_disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/check.h"

namespace sluice::test {
namespace {

constexpr std::string_view kCallNames[kCallCount] = {"list",    "open",  "fstat",  "pread",  "pwrite", "fdatasync",
                                                     "reserve", "clear", "rename", "unlink", "fsync",  "flock"};
constexpr std::size_t kVersionsMax = 4;  // of one unsynced sector

}  // namespace

class SimFile final : public io::File {
 public:
  SimFile(SimDisk& disk, std::string name, std::shared_ptr<SimDisk::Inode> inode)
      : disk_(disk), name_(std::move(name)), inode_(std::move(inode)), generation_(disk.generation_) {}

  io::IoResult<std::uint64_t> size() override {
    if (const int number = before(Call::size)) return disk_.error(Call::size, name_, number);
    return inode_->bytes.size();
  }

  io::IoResult<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    if (const int number = before(Call::read)) return disk_.error(Call::read, name_, number);
    if (offset >= inode_->bytes.size()) return std::size_t{0};
    const auto count = std::min<std::size_t>(into.size(), inode_->bytes.size() - static_cast<std::size_t>(offset));
    std::memcpy(into.data(), inode_->bytes.data() + offset, count);
    return count;
  }

  io::IoResult<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return change(Call::write, [&] {
      if (std::exchange(disk_.lose_next_, false)) return;
      disk_.put(*inode_, std::exchange(disk_.misdirect_next_to_, std::nullopt).value_or(offset), bytes);
    });
  }

  io::IoResult<void> sync() override {
    return change(Call::sync, [&] { SimDisk::settle(*inode_); });
  }

  io::IoResult<void> reserve(std::uint64_t bytes) override {
    if (disk_.capacity_ && bytes > inode_->bytes.size() &&
        disk_.used_bytes() + bytes - inode_->bytes.size() > *disk_.capacity_) {
      if (const int number = before(Call::reserve)) return disk_.error(Call::reserve, name_, number);
      return disk_.error(Call::reserve, name_, ENOSPC);
    }
    return change(Call::reserve, [&] {
      if (bytes > inode_->bytes.size()) inode_->bytes.resize(static_cast<std::size_t>(bytes));
    });
  }

  io::IoResult<void> clear_from(std::uint64_t offset) override {
    return change(Call::clear, [&] {
      if (offset >= inode_->bytes.size()) return;
      // Only what is not zero, as the real one does: less to keep.
      auto& bytes = inode_->bytes;
      std::size_t end = bytes.size();
      while (end > offset && bytes[end - 1] == std::byte{0}) --end;
      if (end > offset) disk_.put(*inode_, offset, std::vector<std::byte>(end - static_cast<std::size_t>(offset)));
    });
  }

 private:
  int before(Call call) { return generation_ == disk_.generation_ ? disk_.before(call) : EIO; }

  template <class Effect>
  io::IoResult<void> change(Call call, Effect effect) {
    if (const int number = before(call)) return disk_.error(call, name_, number);
    int number = 0;
    if (disk_.changes(call, number)) effect();
    if (number != 0) return disk_.error(call, name_, number);
    return {};
  }

  SimDisk& disk_;
  const std::string name_;
  const std::shared_ptr<SimDisk::Inode> inode_;
  const std::uint64_t generation_;
};

SimDisk::SimDisk(std::uint64_t seed) : random_(seed) {}
SimDisk::~SimDisk() = default;

std::string SimDisk::path(std::string_view name) const { return "/sim/" + std::string(name); }

tl::unexpected<io::IoError> SimDisk::error(Call call, std::string_view name, int number) const {
  return tl::unexpected(io::IoError{std::string(kCallNames[static_cast<std::size_t>(call)]), path(name), number});
}

int SimDisk::before(Call call) {
  if (stopped_) return EIO;
  const auto i = static_cast<std::size_t>(call);
  const std::uint64_t n = ++calls_[i];
  if (!faults_[i] || n < faults_[i]->at) return 0;
  const int number = faults_[i]->number;
  if (!faults_[i]->for_ever) faults_[i].reset();
  return number;
}

bool SimDisk::changes(Call call, int& number) {
  ++changes_;
  if (!stop_at_ || changes_ < *stop_at_) return true;
  stopped_ = true;
  number = EIO;
  // A sync that the power interrupts has synced something: crash() chooses what.
  return call != Call::sync && call != Call::sync_directory && chance();
}

io::IoResult<std::vector<std::string>> SimDisk::list() {
  if (const int number = before(Call::list)) return error(Call::list, "", number);
  std::vector<std::string> names;
  for (const auto& [name, inode] : names_) names.push_back(name);
  return names;
}

io::IoResult<std::unique_ptr<io::File>> SimDisk::open(std::string_view name, io::OpenMode mode) {
  if (const int number = before(Call::open)) return error(Call::open, name, number);
  auto known = names_.find(name);
  if (mode != io::OpenMode::create) {
    if (known == names_.end()) return error(Call::open, name, ENOENT);
    return std::make_unique<SimFile>(*this, std::string(name), known->second);
  }
  if (known != names_.end()) return error(Call::open, name, EEXIST);
  int number = 0;
  auto inode = std::make_shared<Inode>();
  if (changes(Call::open, number)) {
    names_.emplace(name, inode);
    unsynced_names_.push_back({"", std::string(name), inode});
  }
  if (number != 0) return error(Call::open, name, number);
  return std::make_unique<SimFile>(*this, std::string(name), inode);
}

io::IoResult<void> SimDisk::rename(std::string_view from, std::string_view to) {
  if (const int number = before(Call::rename)) return error(Call::rename, from, number);
  const auto known = names_.find(from);
  if (known == names_.end()) return error(Call::rename, from, ENOENT);
  int number = 0;
  if (changes(Call::rename, number)) {
    auto inode = known->second;
    names_.erase(known);
    names_.insert_or_assign(std::string(to), inode);
    unsynced_names_.push_back({std::string(from), std::string(to), std::move(inode)});
  }
  if (number != 0) return error(Call::rename, from, number);
  return {};
}

io::IoResult<void> SimDisk::remove(std::string_view name) {
  if (const int number = before(Call::remove)) return error(Call::remove, name, number);
  const auto known = names_.find(name);
  if (known == names_.end()) return error(Call::remove, name, ENOENT);
  int number = 0;
  if (changes(Call::remove, number)) {
    names_.erase(known);
    unsynced_names_.push_back({std::string(name), "", nullptr});
  }
  if (number != 0) return error(Call::remove, name, number);
  return {};
}

io::IoResult<void> SimDisk::sync_directory() {
  if (const int number = before(Call::sync_directory)) return error(Call::sync_directory, "", number);
  int number = 0;
  if (changes(Call::sync_directory, number)) {
    synced_names_ = names_;
    unsynced_names_.clear();
  }
  if (number != 0) return error(Call::sync_directory, "", number);
  return {};
}

io::IoResult<bool> SimDisk::lock(std::string_view name) {
  if (const int number = before(Call::lock)) return error(Call::lock, name, number);
  if (locked_) return false;
  return locked_ = true;
}

void SimDisk::unlock() { locked_ = false; }

void SimDisk::fail(Call call, std::uint64_t n, int number, bool for_ever) {
  faults_[static_cast<std::size_t>(call)] = Fault{calls_[static_cast<std::size_t>(call)] + n, number, for_ever};
}

void SimDisk::heal() { faults_ = {}; }

void SimDisk::touch(Inode& inode, std::uint64_t offset, std::uint64_t bytes) {
  for (std::uint64_t sector = offset / kSectorBytes; sector * kSectorBytes < offset + bytes; ++sector) {
    auto [versions, is_new] = inode.unsynced.try_emplace(sector);
    if (is_new) inode.unsynced_order.push_back(sector);
    if (versions->second.size() == kVersionsMax) versions->second.pop_back();
    Sector& saved = versions->second.emplace_back();
    const auto from = static_cast<std::size_t>(sector * kSectorBytes);
    if (from < inode.bytes.size())
      std::memcpy(saved.data(), inode.bytes.data() + from, std::min(kSectorBytes, inode.bytes.size() - from));
  }
}

void SimDisk::put(Inode& inode, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (offset + bytes.size() > inode.bytes.size()) inode.bytes.resize(static_cast<std::size_t>(offset) + bytes.size());
  touch(inode, offset, bytes.size());
  std::memcpy(inode.bytes.data() + offset, bytes.data(), bytes.size());
}

void SimDisk::settle(Inode& inode) {
  inode.synced_size = inode.bytes.size();
  inode.unsynced.clear();
  inode.unsynced_order.clear();
}

void SimDisk::lose(Inode& inode) {
  for (const std::uint64_t sector : inode.unsynced_order) {
    const auto& versions = inode.unsynced[sector];
    const std::uint64_t kept = random_() % (2 * versions.size());
    if (kept >= versions.size()) continue;  // as of now
    const auto from = static_cast<std::size_t>(sector * kSectorBytes);
    const std::size_t bytes = std::min(kSectorBytes, inode.bytes.size() - from);
    std::memcpy(inode.bytes.data() + from, versions[static_cast<std::size_t>(kept)].data(), bytes);
  }
  if (inode.bytes.size() != inode.synced_size && chance())
    inode.bytes.resize(static_cast<std::size_t>(inode.synced_size));
  settle(inode);
}

void SimDisk::crash() {
  for (const NameChange& change : unsynced_names_) {
    if (chance()) continue;
    if (!change.gone.empty()) synced_names_.erase(change.gone);
    if (!change.come.empty()) synced_names_.insert_or_assign(change.come, change.inode);
  }
  names_ = synced_names_;
  unsynced_names_.clear();
  std::set<const Inode*> done;  // for asking only; the order is that of the names
  for (const auto& [name, inode] : names_)
    if (done.insert(inode.get()).second) lose(*inode);
  ++generation_;
  locked_ = false;
  stopped_ = false;
  stop_at_.reset();
  lose_next_ = false;
  misdirect_next_to_.reset();
  heal();
}

std::uint64_t SimDisk::used_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, inode] : names_) bytes += inode->bytes.size();
  return bytes;
}

const std::vector<std::byte>& SimDisk::contents(std::string_view name) const {
  const auto known = names_.find(name);
  SLUICE_CHECK(known != names_.end());
  return known->second->bytes;
}

void SimDisk::set_contents(std::string_view name, std::vector<std::byte> bytes) {
  const auto known = names_.find(name);
  SLUICE_CHECK(known != names_.end());
  known->second->bytes = std::move(bytes);
  settle(*known->second);
}

void SimDisk::flip(std::string_view name, std::uint64_t bit) {
  const auto known = names_.find(name);
  SLUICE_CHECK(known != names_.end() && bit / 8 < known->second->bytes.size());
  known->second->bytes[static_cast<std::size_t>(bit / 8)] ^= std::byte{1} << (bit % 8);
}

SimDisk::Image SimDisk::image() const {
  Image image;
  for (const auto& [name, inode] : names_) image.emplace(name, inode->bytes);
  return image;
}

void SimDisk::load(const Image& image) {
  ++generation_;
  names_.clear();
  for (const auto& [name, bytes] : image) {
    auto inode = std::make_shared<Inode>();
    inode->bytes = bytes;
    settle(*inode);
    names_.emplace(name, std::move(inode));
  }
  synced_names_ = names_;
  unsynced_names_.clear();
  locked_ = false;
}

}  // namespace sluice::test
