#include "cli/bench/presets.h"

namespace sluice::cli {
namespace {

PresetRun small_run(std::uint32_t consumers) { return {consumers, 50, 500, "1,139-1,232 msg/s, p99 2.0 ms", 1'232}; }

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kPresets{
      {"small", {small_run(3), small_run(5), small_run(10), small_run(20), small_run(50)}},
      {"large", {{50, 50, 5'000, "1,287 msg/s", 1'287}}},
      {"cliff", {{3, 5, 5'000, "16 msg/s", 16}}},
  };
  return kPresets;
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  return names;
}

const Preset* find_preset(const std::string& name) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

}  // namespace sluice::cli
