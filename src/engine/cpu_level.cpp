#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "engine/engine.h"

namespace rapt {

Result<CpuLevel> find_cpu_level(const EngineConfig& config) {
  if (config.reference && config.cpu_level.has_value()) {
    return invalid_argument(
        "--reference runs the reference kernels, which have no CPU level; leave out --cpu-level"
    );
  }
  if (config.reference) {
    return CpuLevel::kReference;
  }
  const std::vector<CpuLevel> levels = runnable_cpu_levels();
  const CpuLevel wanted = config.cpu_level.value_or(levels.back());
  std::string names;
  for (const CpuLevel level : levels) {
    if (level == wanted) {
      return level;
    }
    names += (names.empty() ? "" : ", ") + std::string(name_of(level));
  }
  return invalid_argument(
      "--cpu-level is " + std::string(name_of(wanted)) + ", but this machine (" +
      detect_cpu().model_name + ") can run " + names
  );
}

}  // namespace rapt
