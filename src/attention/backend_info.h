#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "attention/slots.h"
#include "tensor/stream.h"

// What a backend can do and what it costs, as data. Each backend's folder defines one BackendInfo;
// attention/registry.h lists them; the selector, the commands, the messages and the table in
// docs/ATTENTION.md are all derived from that list. The unit of capability is the kernel variant:
// a backend that has sinks in prefill may lack them in decode. Constants, any thread.

namespace rapt {

class AttentionBackend;

enum class DeviceKind { kCpu, kCuda };

// What one element of a stored key or value is.
enum class KVType { kBF16, kF32, kFp8 };

constexpr std::string_view name_of(KVType type) {
  switch (type) {
    case KVType::kBF16:
      return "bf16";
    case KVType::kF32:
      return "f32";
    case KVType::kFp8:
      return "fp8";
  }
  return "?";
}

constexpr int size_of(KVType type) {
  return type == KVType::kF32 ? 4 : type == KVType::kBF16 ? 2 : 1;
}

// How much of a step may be recorded once and replayed (device graphs), weakest first.
enum class GraphLevel { kNever, kSingleToken, kUniformBatch, kAlways };

constexpr std::string_view name_of(GraphLevel level) {
  switch (level) {
    case GraphLevel::kNever:
      return "never";
    case GraphLevel::kSingleToken:
      return "single token";
    case GraphLevel::kUniformBatch:
      return "uniform batches";
    case GraphLevel::kAlways:
      return "all batches";
  }
  return "?";
}

// Whether a row's bits depend on who shares the batch.
enum class BatchInvariance { kNever, kInDeterministicMode, kAlways };

// Which sizes a kernel takes: the listed ones when there is a list, else multiples of `multiple_of`
// from `min` to `max`.
struct SizeRule {
  std::span<const int> only = {};
  int multiple_of = 1;
  int min = 1;
  int max = 0;  // 0: no limit

  constexpr bool allows(int value) const {
    if (!only.empty()) {
      for (const int one : only) {
        if (one == value) {
          return true;
        }
      }
      return false;
    }
    return value >= min && (max == 0 || value <= max) && value % multiple_of == 0;
  }
};

// A range of CUDA compute capabilities, major * 10 + minor, both ends included.
struct CapabilityRange {
  int first = 0;
  int last = 0;
};

// Which of a device's peaks bounds a kernel's arithmetic.
enum class Arithmetic {
  kScalar,   // one number at a time, whatever the CPU's level
  kVector,   // fp32 fused multiply-adds
  kMma,      // tensor cores by warp-wide instructions (mma.sync), SM 8.0 and up
  kWideMma,  // tensor cores by the widest instructions the device has (wgmma, tcgen05)
};

// The share of the device's limits that a variant reaches, and what a call costs at least. Used
// when no calibration was made; then every number derived from it is shown as an estimate.
struct VariantCost {
  double fixed_us = 0.0;         // a call's own cost: waking workers, launching
  double bandwidth_share = 0.0;  // of the device's memory bandwidth, while reading K and V
  Arithmetic arithmetic = Arithmetic::kVector;
  double compute_share = 0.0;  // of the device's peak for that arithmetic
  bool packs_heads = true;     // the query heads of a KV head share one read of it
  // Whether several workers (CPU cores, GPU multiprocessors) may share one sequence's KV head in
  // decode. A kernel that cannot leaves workers idle when the batch is small.
  bool splits_context = false;
};

// One kernel of a backend: where it runs, what it computes, what it costs.
struct KernelVariant {
  std::string_view name = {};         // "tiled", "split-kv", "window"
  std::string_view description = {};  // one line, no full stop
  SlotSet slots = {};                 // the places it can fill

  CpuLevel min_cpu_level = CpuLevel::kReference;               // CPU backends
  std::span<const CapabilityRange> compute_capabilities = {};  // CUDA backends

  bool has_sinks = false;
  bool has_window = false;
  bool has_soft_cap = false;
  SizeRule head_dims = {};
  SizeRule gqa_ratios = {};
  std::span<const KVType> kv_types = {};
  SizeRule block_sizes = {};
  int best_block_size = 0;          // 0: none is better
  bool takes_mixed_batches = true;  // prompts and single tokens in one call
  int max_query_rows = 0;           // rows of one sequence in a decode call (speculation); 0: any
  GraphLevel graph_level = GraphLevel::kNever;
  BatchInvariance batch_invariance = BatchInvariance::kNever;
  int max_sequences = 0;                      // in one step; 0: no limit
  std::int64_t max_context = 0;               // positions; 0: no limit
  std::uint64_t workspace_bytes_per_row = 0;  // a row and query head, beside its output
  VariantCost cost = {};
  int rank = 0;  // breaks ties, lower first
};

// A library that a backend finds at run time.
struct LibraryNeed {
  std::string_view name;         // "libcudnn"; "" for none
  std::string_view min_version;  // "9.13"
};

// What a backend is made with.
struct AttentionBackendOptions {
  int num_threads = 1;
  int max_positions = 0;  // it serves positions below
};

struct BackendInfo {
  std::string_view name = {};         // "cpu-flash": stable for ever
  std::string_view description = {};  // one line, no full stop
  DeviceKind device = DeviceKind::kCpu;
  std::span<const KernelVariant> variants = {};
  LibraryNeed library = {};
  // Backends with the same class give the same bits; a plan of two classes keeps no promise
  // (docs/NUMERICS.md).
  std::string_view numerics_class = {};
  int rank = 0;  // breaks ties between backends, lower first
  // Null: this binary does not have it. It is still listed and ranked, marked "not built".
  std::unique_ptr<AttentionBackend> (*make)(const AttentionBackendOptions& options) = nullptr;
};

}  // namespace rapt
