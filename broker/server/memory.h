#pragma once
// server/memory.h: what the process holds, and giving back what it no longer needs.

#include <cstdint>

namespace sluice::server {

// Resident set of this process in bytes; 0 if the system does not tell.
std::uint64_t resident_bytes();

// Returns freed memory to the system once queues have become small again. The allocator keeps what it was given, and a
// burst of a day ago would stay resident for ever.
class MemoryTrimmer {
 public:
  // Once a turn; cheap. `held_bytes`: what messages take now.
  void look(std::uint64_t held_bytes);

 private:
  std::uint64_t peak_bytes_ = 0;  // since the last trim
};

}  // namespace sluice::server
