#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/backend_info.h"
#include "base/result.h"

// What the choice of a backend needs to know of a device. The facts of this machine's CPU are given
// by the caller; every other device is simulated: a representative of its kind with its data
// sheet's figures, so that plans can be asked for without having one. Plain values, any thread.

namespace rapt {

struct DeviceFacts {
  std::string id;    // as --device takes it: "cpu", "cpu:avx2", "sm89"
  std::string name;  // "NVIDIA L40S"
  DeviceKind kind = DeviceKind::kCpu;
  bool is_simulated = false;

  CpuLevel cpu_level = CpuLevel::kScalar;  // CPU: the level that kernels run at
  bool has_amx = false;
  int compute_capability = 0;  // CUDA: major * 10 + minor

  int num_workers = 1;           // CPU threads, or multiprocessors
  double memory_gb = 0.0;        // 0: unknown
  double bandwidth_gbs = 0.0;    // main memory, 10^9 bytes a second
  double scalar_tflops = 0.0;    // Arithmetic::kScalar; 0: none
  double vector_tflops = 0.0;    // Arithmetic::kVector
  double mma_tflops = 0.0;       // Arithmetic::kMma; 0: none
  double wide_mma_tflops = 0.0;  // Arithmetic::kWideMma; 0: none
  bool is_measured = false;      // the rates are measured, not from a table
  std::string driver = {};       // version; "" when unknown
  std::string cudnn = {};        // libcudnn's version; "" when it was not found

  double peak_tflops(Arithmetic arithmetic) const;
};

// What the caller knows of this machine's CPU (base/cpu_info.h; rates by a measurement, else 0).
struct HostFacts {
  std::string cpu_name = {};
  CpuLevel level = CpuLevel::kScalar;
  int num_threads = 1;
  double memory_gb = 0.0;
  double bandwidth_gbs = 0.0;
  double vector_tflops = 0.0;
  bool has_amx = false;
};

// Finds a device by the text of --device: "cpu" or "" (this machine), "cpu:LEVEL", "smNN" or
// "sm_NN" (simulated). "0", "cuda" and "cuda:N" mean a GPU of this machine, which is an error in a
// binary without CUDA.
Result<DeviceFacts> find_attention_device(std::string_view text, const HostFacts& host);

// Every name find_attention_device() takes, "cpu" first, in ascending order.
std::vector<std::string_view> attention_device_names();

// "CPU" or "SM 8.9": how messages speak of it.
std::string short_name_of(const DeviceFacts& device);

// "SM 9.0" for 90.
std::string sm_name(int compute_capability);

// "NVIDIA L40S (SM 8.9)", "CPU (avx512)".
std::string full_name_of(const DeviceFacts& device);

}  // namespace rapt
