#pragma once
// cli/bench/presets.h: runs whose figures a smaller broker has published, to be read beside ours.

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::cli {

struct PresetRun {
  std::uint32_t consumers;
  std::uint32_t prefetch;
  std::uint64_t messages;
  std::string published;  // "1,139-1,232 msg/s, p99 2.0 ms"
  double published_rate_max;
};

struct Preset {
  std::string name;
  std::vector<PresetRun> runs;
};

std::vector<std::string> preset_names();
// nullptr if there is none of that name.
const Preset* find_preset(const std::string& name);

}  // namespace sluice::cli
