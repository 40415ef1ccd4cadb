#include "cli/bench/payload.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace sluice::cli {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// The first word of the filler (SplitMix64): neighbours have nothing in common.
std::uint64_t seed_of(std::uint64_t sequence) {
  std::uint64_t mixed = sequence + 0x9E3779B97F4A7C15;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;

}  // namespace

std::uint64_t monotonic_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

PayloadWriter::PayloadWriter(std::size_t bytes, std::uint64_t tag) : bytes_(std::max(bytes, kPayloadBytesMin), '\0') {
  std::memcpy(bytes_.data(), &tag, kWord);
}

std::string_view PayloadWriter::write(std::uint64_t sequence, std::uint64_t intended_ns) {
  char* const at = bytes_.data();
  std::memcpy(at + kWord, &sequence, kWord);
  std::memcpy(at + 2 * kWord, &intended_ns, kWord);
  std::uint64_t word = seed_of(sequence);
  std::size_t offset = kPayloadBytesMin;
  for (; offset + kWord <= bytes_.size(); offset += kWord, word += kStep) std::memcpy(at + offset, &word, kWord);
  std::memcpy(at + offset, &word, bytes_.size() - offset);
  return bytes_;
}

std::optional<Stamp> read_stamp(std::string_view payload) {
  if (payload.size() < kPayloadBytesMin) return std::nullopt;
  Stamp stamp;
  std::memcpy(&stamp.producer, payload.data(), kWord);
  std::memcpy(&stamp.sequence, payload.data() + kWord, kWord);
  std::memcpy(&stamp.intended_ns, payload.data() + 2 * kWord, kWord);
  return stamp;
}

bool filler_intact(std::string_view payload, std::uint64_t sequence) {
  std::uint64_t word = seed_of(sequence);
  std::size_t offset = kPayloadBytesMin;
  for (; offset + kWord <= payload.size(); offset += kWord, word += kStep) {
    if (std::memcmp(payload.data() + offset, &word, kWord) != 0) return false;
  }
  return std::memcmp(payload.data() + offset, &word, payload.size() - offset) == 0;
}

}  // namespace sluice::cli
