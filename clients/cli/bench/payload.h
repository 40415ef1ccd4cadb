#pragma once
// cli/bench/payload.h: what a benchmark's message says about itself.
//
// Shapes   8 bytes producer tag, 8 bytes sequence from 0, 8 bytes intended send time, then filler that follows from the sequence.
//          Both ends are on one machine: native byte order, and one CLOCK_MONOTONIC.
// Units    times in ns.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::cli {

inline constexpr std::size_t kPayloadBytesMin = 24;

struct Stamp {
  std::uint64_t producer = 0;
  std::uint64_t sequence = 0;
  std::uint64_t intended_ns = 0;
};

// The run's tag and a producer's number in one: leftovers of another run are not taken for this one's messages.
constexpr std::uint64_t producer_tag(std::uint64_t run_tag, std::uint64_t producer) { return run_tag << 16 | producer; }
constexpr std::uint64_t producer_of(std::uint64_t tag) { return tag & 0xFFFF; }
constexpr std::uint64_t run_tag_of(std::uint64_t tag) { return tag >> 16; }

// One producer's message, written anew in the same bytes.
class PayloadWriter {
 public:
  PayloadWriter(std::size_t bytes, std::uint64_t producer_tag);
  std::string_view write(std::uint64_t sequence, std::uint64_t intended_ns);

 private:
  std::string bytes_;
};

// nullopt if it is too short to be one.
std::optional<Stamp> read_stamp(std::string_view payload);
// Whether the filler is that of the stamp's sequence.
bool filler_intact(std::string_view payload, std::uint64_t sequence);

std::uint64_t monotonic_ns();

}  // namespace sluice::cli
