#include "attention/backend_info.h"

namespace rapt {

namespace {

constexpr KVType kKVTypes[] = {KVType::kBF16};
constexpr int kBlockSizes[] = {16, 32, 64, 128};
constexpr SizeRule kHeadDims = {.multiple_of = 8, .min = 8, .max = 256};
constexpr CapabilityRange kFrom80[] = {{80, 129}};

constexpr KernelVariant kVariants[] = {{
    .name = "sdpa",
    .description = "the library's paged prefill, sinks as an fp32 copy",
    .slots = SlotSet::of(AttentionPhase::kPrefill),
    .compute_capabilities = kFrom80,
    .has_sinks = true,
    .has_window = true,
    .head_dims = kHeadDims,
    .kv_types = kKVTypes,
    .block_sizes = {.only = kBlockSizes},
    .takes_mixed_batches = false,
    .graph_level = GraphLevel::kNever,
    .batch_invariance = BatchInvariance::kNever,
    .cost =
        {.fixed_us = 12.0,
         .bandwidth_share = 0.8,
         .arithmetic = Arithmetic::kWideMma,
         .compute_share = 0.6,
         .splits_context = true},
}};

constexpr BackendInfo kInfo = {
    .name = "cudnn",
    .description = "NVIDIA's library where it is installed: a baseline and a cross-check",
    .device = DeviceKind::kCuda,
    .variants = kVariants,
    .library = {.name = "libcudnn", .min_version = "9.13"},
    .numerics_class = "cudnn",
    .rank = 30,
};

}  // namespace

const BackendInfo& cudnn_info() {
  return kInfo;
}

}  // namespace rapt
