#include "base/cpu_info.h"

#include <sched.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace rapt {

namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (file && std::getline(file, line)) {
    return line;
  }
  return std::nullopt;
}

std::optional<double> to_number(std::string_view text) {
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end == text.data()) {
    return std::nullopt;
  }
  return value;
}

// The process's cgroup and its parents, deepest first, under `root`. A limit may be set on any.
std::vector<std::string> cgroup_folders(const std::string& root, std::string_view controller) {
  std::vector<std::string> folders;
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string names = line.substr(first + 1, second - first - 1);
    if (names != controller &&
        ("," + names + ",").find("," + std::string(controller) + ",") == std::string::npos) {
      continue;
    }
    std::string path = line.substr(second + 1);
    while (!path.empty() && path != "/") {
      folders.push_back(root + path);
      path.erase(path.rfind('/'));
    }
  }
  folders.push_back(root);
  return folders;
}

double cgroup_cores() {
  double cores = INFINITY;
  for (const std::string& folder : cgroup_folders("/sys/fs/cgroup", "")) {
    const auto line = first_line(folder + "/cpu.max");  // "max 100000" or "150000 100000"
    if (!line || line->starts_with("max")) {
      continue;
    }
    const std::size_t blank = line->find(' ');
    const auto quota = to_number(*line);
    const auto period =
        blank == std::string::npos ? std::nullopt : to_number(line->substr(blank + 1));
    if (quota && period && *period > 0) {
      cores = std::min(cores, *quota / *period);
    }
  }
  for (const std::string& folder : cgroup_folders("/sys/fs/cgroup/cpu", "cpu")) {
    const auto quota_line = first_line(folder + "/cpu.cfs_quota_us");
    const auto period_line = first_line(folder + "/cpu.cfs_period_us");
    const auto quota = quota_line ? to_number(*quota_line) : std::nullopt;
    const auto period = period_line ? to_number(*period_line) : std::nullopt;
    if (quota && period && *quota > 0 && *period > 0) {
      cores = std::min(cores, *quota / *period);
    }
  }
  return cores;
}

double cgroup_memory() {
  double bytes = INFINITY;
  for (const std::string& folder : cgroup_folders("/sys/fs/cgroup", "")) {
    if (const auto line = first_line(folder + "/memory.max"); line && *line != "max") {
      bytes = std::min(bytes, to_number(*line).value_or(INFINITY));
    }
  }
  for (const std::string& folder : cgroup_folders("/sys/fs/cgroup/memory", "memory")) {
    if (const auto line = first_line(folder + "/memory.limit_in_bytes")) {
      bytes = std::min(bytes, to_number(*line).value_or(INFINITY));
    }
  }
  return bytes;
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(CPU_COUNT(&set), 1);
  }
  return std::max(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), 1);
}

std::string cpu_model_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      return colon == std::string::npos ? "" : line.substr(colon + 2);
    }
  }
  return "";
}

}  // namespace

CpuInfo detect_cpu() {
  CpuInfo info;
  info.model_name = cpu_model_name();
  info.num_usable_cores = affinity_cores();
  if (const double cores = cgroup_cores(); std::isfinite(cores)) {
    info.num_usable_cores =
        std::clamp(static_cast<int>(std::ceil(cores)), 1, info.num_usable_cores);
  }
  double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  memory = std::min(memory, cgroup_memory());
  info.memory_bytes = static_cast<std::uint64_t>(memory);
  __builtin_cpu_init();
  info.has_avx2_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("f16c");
  info.has_avx512 = info.has_avx2_fma && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  info.has_avx512_vnni = info.has_avx512 && __builtin_cpu_supports("avx512vnni");
  info.has_amx = info.has_avx512 && __builtin_cpu_supports("amx-tile");
  return info;
}

void set_compute_float_mode() {
  constexpr unsigned kAllExceptionsMasked = 0x1F80U;  // rounding to nearest, FTZ and DAZ clear
  _mm_setcsr(kAllExceptionsMasked);
}

}  // namespace rapt
