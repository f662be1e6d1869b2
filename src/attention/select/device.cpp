#include "attention/select/device.h"

#include <algorithm>
#include <array>
#include <optional>

#include "attention/select/text_internal.h"
#include "base/nearest_name.h"

namespace rapt {

namespace {

// One representative of each compute capability. Memory, bandwidth and vector rates are the data
// sheets'; tensor rates are for bf16 with fp32 sums, without sparsity. What mma.sync reaches on 9.0
// and later, where wider instructions exist, is an estimate.
struct SimulatedGpu {
  std::string_view id;
  std::string_view name;
  int compute_capability;
  int num_workers;
  double memory_gb;
  double bandwidth_gbs;
  double vector_tflops;
  double mma_tflops;
  double wide_mma_tflops;
};

constexpr std::array<SimulatedGpu, 11> kGpus = {{
    {"sm75", "NVIDIA T4", 75, 40, 16, 320, 8.1, 0, 0},
    {"sm80", "NVIDIA A100", 80, 108, 80, 2039, 19.5, 312, 312},
    {"sm86", "NVIDIA A10", 86, 72, 24, 600, 31.2, 125, 125},
    {"sm87", "NVIDIA Jetson AGX Orin", 87, 16, 64, 204.8, 5.3, 43, 43},
    {"sm89", "NVIDIA L40S", 89, 142, 48, 864, 91.6, 362, 362},
    {"sm90", "NVIDIA H200", 90, 132, 141, 4800, 67, 610, 989},
    {"sm100", "NVIDIA B200", 100, 148, 180, 8000, 75, 800, 2250},
    {"sm103", "NVIDIA B300", 103, 148, 288, 8000, 75, 800, 2250},
    {"sm110", "NVIDIA Jetson AGX Thor", 110, 20, 128, 273, 8, 130, 258},
    {"sm120", "NVIDIA RTX 5090", 120, 170, 32, 1792, 105, 210, 210},
    {"sm121", "NVIDIA DGX Spark (GB10)", 121, 48, 128, 273, 31, 62, 62},
}};

struct LevelRate {
  CpuLevel level;
  double flops_per_cycle;  // of one core, fp32 multiply-adds counted as two
};

// Two multiply-adds a cycle at the level's width; the scalar build's loops become SSE2 code.
constexpr std::array<LevelRate, 5> kLevelRates = {{
    {CpuLevel::kReference, 1},
    {CpuLevel::kScalar, 4},
    {CpuLevel::kAvx2, 32},
    {CpuLevel::kAvx512, 64},
    {CpuLevel::kAvx512Vnni, 64},
}};

// What a core of a server is taken to have while nothing was measured.
constexpr double kAssumedGhz = 3.0;
constexpr double kAssumedGbsPerThread = 12.0;
constexpr double kAssumedMaxGbs = 200.0;

constexpr std::array<std::string_view, 6> kCpuNames = {
    "cpu", "cpu:reference", "cpu:scalar", "cpu:avx2", "cpu:avx512", "cpu:avx512vnni"};

double flops_per_cycle(CpuLevel level) {
  for (const LevelRate& rate : kLevelRates) {
    if (rate.level == level) {
      return rate.flops_per_cycle;
    }
  }
  return 1;
}

std::optional<CpuLevel> find_level(std::string_view name) {
  for (const LevelRate& rate : kLevelRates) {
    if (name_of(rate.level) == name) {
      return rate.level;
    }
  }
  return std::nullopt;
}

DeviceFacts make_cpu(const HostFacts& host, CpuLevel level) {
  DeviceFacts device;
  const bool is_host = level == host.level;
  device.id = is_host ? "cpu" : "cpu:" + std::string(name_of(level));
  device.name = host.cpu_name.empty() ? "CPU" : host.cpu_name;
  device.kind = DeviceKind::kCpu;
  device.is_simulated = !is_host;
  device.cpu_level = level;
  device.has_amx = host.has_amx && is_host;
  device.num_workers = std::max(host.num_threads, 1);
  device.memory_gb = host.memory_gb;
  device.is_measured = host.bandwidth_gbs > 0 && host.vector_tflops > 0;
  device.bandwidth_gbs = host.bandwidth_gbs > 0
                             ? host.bandwidth_gbs
                             : std::min(kAssumedGbsPerThread * device.num_workers, kAssumedMaxGbs);
  const double own_tflops = host.vector_tflops > 0 ? host.vector_tflops
                                                   : flops_per_cycle(host.level) * kAssumedGhz *
                                                         1e-3 * device.num_workers;
  device.scalar_tflops =
      flops_per_cycle(CpuLevel::kReference) * kAssumedGhz * 1e-3 * device.num_workers;
  device.vector_tflops = own_tflops * flops_per_cycle(level) / flops_per_cycle(host.level);
  return device;
}

DeviceFacts make_gpu(const SimulatedGpu& gpu) {
  DeviceFacts device;
  device.id = gpu.id;
  device.name = gpu.name;
  device.kind = DeviceKind::kCuda;
  device.is_simulated = true;
  device.compute_capability = gpu.compute_capability;
  device.num_workers = gpu.num_workers;
  device.memory_gb = gpu.memory_gb;
  device.bandwidth_gbs = gpu.bandwidth_gbs;
  device.vector_tflops = gpu.vector_tflops;
  device.mma_tflops = gpu.mma_tflops;
  device.wide_mma_tflops = gpu.wide_mma_tflops;
  return device;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

double DeviceFacts::peak_tflops(Arithmetic arithmetic) const {
  switch (arithmetic) {
    case Arithmetic::kScalar:
      return scalar_tflops;
    case Arithmetic::kVector:
      return vector_tflops;
    case Arithmetic::kMma:
      return mma_tflops;
    case Arithmetic::kWideMma:
      return wide_mma_tflops;
  }
  return 0.0;
}

std::vector<std::string_view> attention_device_names() {
  std::vector<std::string_view> names(kCpuNames.begin(), kCpuNames.end());
  for (const SimulatedGpu& gpu : kGpus) {
    names.push_back(gpu.id);
  }
  return names;
}

Result<DeviceFacts> find_attention_device(std::string_view text, const HostFacts& host) {
  std::string name = lower_case(trim_blanks(text));
  if (name.empty() || name == "cpu" || name == "auto") {
    return make_cpu(host, host.level);
  }
  if (name.starts_with("cpu:")) {
    if (const std::optional<CpuLevel> level = find_level(name.substr(4))) {
      return make_cpu(host, *level);
    }
  }
  if (name.starts_with("sm_")) {
    name.erase(2, 1);
  }
  if (name.starts_with("sm") && name.ends_with("a") && name.size() > 4) {
    name.pop_back();
  }
  std::erase(name, '.');
  for (const SimulatedGpu& gpu : kGpus) {
    if (gpu.id == name) {
      return make_gpu(gpu);
    }
  }
  const bool is_gpu_of_machine = is_number(name) || name == "cuda" || name == "gpu" ||
                                 (name.starts_with("cuda:") && is_number(name.substr(5)));
  if (is_gpu_of_machine) {
    return invalid_argument(
        "--device " + std::string(text) +
        ": this binary has no CUDA backend, so it finds no GPU in this machine. Use --device cpu, "
        "or"
        " sm80, sm90, ... for the plan that a GPU of that kind would get"
    );
  }
  const std::vector<std::string_view> known = attention_device_names();
  std::vector<std::string> listed(known.begin(), known.end());
  return invalid_argument(
      "unknown device '" + std::string(text) + "'" + did_you_mean(name, known) +
      "; known: " + join(listed, ", ")
  );
}

std::string sm_name(int compute_capability) {
  return "SM " + std::to_string(compute_capability / 10) + "." +
         std::to_string(compute_capability % 10);
}

std::string short_name_of(const DeviceFacts& device) {
  return device.kind == DeviceKind::kCpu ? "CPU" : sm_name(device.compute_capability);
}

std::string full_name_of(const DeviceFacts& device) {
  if (device.kind == DeviceKind::kCpu) {
    return "CPU (" + std::string(name_of(device.cpu_level)) + ")";
  }
  return device.name + " (" + sm_name(device.compute_capability) + ")";
}

}  // namespace rapt
