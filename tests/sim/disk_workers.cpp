#include "disk_workers.h"

#include <algorithm>

namespace sluice::sim {
namespace {

constexpr std::uint64_t kReadUsMax = kMs;  // most of it is in the system's memory

}  // namespace

void DiskWorkers::later(std::uint64_t us, void (DiskWorkers::*step)()) {
  world_.after(held_up(us), [this, alive = alive_, step] {
    if (*alive) (this->*step)();
  });
}

std::uint64_t DiskWorkers::held_up(std::uint64_t us) const {
  return speed_.slow_until_us > world_.now_us() ? speed_.slow_until_us - world_.now_us() + us : us;
}

void DiskWorkers::writer_has_work() {
  more_to_write_ = true;
  if (writing_) return;
  writing_ = true;
  later(speed_.write_us, &DiskWorkers::write);
}

void DiskWorkers::write() {
  more_to_write_ = false;
  wrote_ = journal_.writer().write(world_.now_us() / kMs);
  later(speed_.sync_us, &DiskWorkers::sync);
}

void DiskWorkers::sync() {
  const std::uint64_t now_ms = world_.now_us() / kMs;
  const bool synced = journal_.writer().sync(now_ms);
  const bool tended = journal_.writer().tend(now_ms);
  network_.wake();
  if (wrote_ || synced || tended || more_to_write_) return later(speed_.write_us, &DiskWorkers::write);
  writing_ = false;
  const auto next_ms = journal_.writer().next_ms();
  if (!next_ms) return;
  later(*next_ms > now_ms ? (*next_ms - now_ms) * kMs : kMs, &DiskWorkers::writer_has_work);
}

void DiskWorkers::reader_has_work() {
  if (reading_) return;
  reading_ = true;
  later(std::min(speed_.write_us, kReadUsMax), &DiskWorkers::read);
}

void DiskWorkers::read() {
  reading_ = false;
  const bool read = journal_.reader().step();
  if (read) reader_has_work();
  network_.wake();
}

}  // namespace sluice::sim
