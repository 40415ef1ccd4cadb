#include "server/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace sluice::server {
namespace {

// Below this a trim gains too little for its cost (it walks the heap).
constexpr std::uint64_t kWorthBytes = 64ULL * 1024 * 1024;

}  // namespace

std::uint64_t resident_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "r"), std::fclose);
  unsigned long long total = 0;
  unsigned long long resident = 0;
  if (file == nullptr || std::fscanf(file.get(), "%llu %llu", &total, &resident) != 2) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void MemoryTrimmer::look(std::uint64_t held_bytes) {
  peak_bytes_ = std::max(peak_bytes_, held_bytes);
  if (peak_bytes_ < kWorthBytes || held_bytes > peak_bytes_ / 8) return;
  malloc_trim(0);
  peak_bytes_ = held_bytes;
}

}  // namespace sluice::server
