#include "attention/backend_info.h"

namespace rapt {

namespace {

constexpr KVType kKVTypes[] = {KVType::kBF16, KVType::kFp8};
constexpr CapabilityRange kAnyFrom75[] = {{75, 129}};

constexpr KernelVariant kVariants[] = {{
    .name = "naive",
    .description = "one block a query head and row, fp32 throughout",
    .slots = SlotSet::all(),
    .compute_capabilities = kAnyFrom75,
    .has_sinks = true,
    .has_window = true,
    .has_soft_cap = true,
    .kv_types = kKVTypes,
    .graph_level = GraphLevel::kAlways,
    .batch_invariance = BatchInvariance::kAlways,
    .cost =
        {.fixed_us = 5.0,
         .bandwidth_share = 0.25,
         .arithmetic = Arithmetic::kVector,
         .compute_share = 0.03,
         .packs_heads = false,
         .splits_context = false},
}};

constexpr BackendInfo kInfo = {
    .name = "cuda-ref",
    .description = "the plain definition on any GPU from SM 7.5; the last resort",
    .device = DeviceKind::kCuda,
    .variants = kVariants,
    .numerics_class = "cuda-ref",
    .rank = 90,
};

}  // namespace

const BackendInfo& cuda_ref_info() {
  return kInfo;
}

}  // namespace rapt
