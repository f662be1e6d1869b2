#include "attention/backend.h"
#include "attention/backend_info.h"

namespace rapt {

namespace {

constexpr KVType kKVTypes[] = {KVType::kBF16, KVType::kF32, KVType::kFp8};

// Plain loops, whatever the CPU's level, and keys are read again for every query head. The shares
// are estimates; nobody chooses this backend for its speed.
constexpr KernelVariant kVariants[] = {{
    .name = "row",
    .description = "one query head of one row at a time, two passes over the scores",
    .slots = SlotSet::all(),
    .min_cpu_level = CpuLevel::kReference,
    .has_sinks = true,
    .has_window = true,
    .has_soft_cap = true,
    .kv_types = kKVTypes,
    .graph_level = GraphLevel::kNever,
    .batch_invariance = BatchInvariance::kAlways,
    .cost =
        {.fixed_us = 5.0,
         .bandwidth_share = 0.5,
         .arithmetic = Arithmetic::kScalar,
         .compute_share = 0.8,
         .packs_heads = false,
         .splits_context = false},
}};

constexpr BackendInfo kInfo = {
    .name = "cpu-ref",
    .description = "the plain fp32 definition of attention; always valid",
    .device = DeviceKind::kCpu,
    .variants = kVariants,
    .numerics_class = "cpu-ref",
    .rank = 90,
    .make = [](const AttentionBackendOptions& options
            ) { return make_cpu_ref_backend(options.num_threads, options.max_positions); },
};

}  // namespace

const BackendInfo& cpu_ref_info() {
  return kInfo;
}

}  // namespace rapt
