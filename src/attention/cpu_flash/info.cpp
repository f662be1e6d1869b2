#include "attention/backend_info.h"
#include "attention/cpu_flash/backend_internal.h"

namespace rapt {

namespace {

constexpr KVType kEveryKVType[] = {KVType::kBF16, KVType::kF32, KVType::kFp8};
// A window's worth of FP8 saves nothing that can be noticed and costs accuracy.
constexpr KVType kSlidingKVTypes[] = {KVType::kBF16, KVType::kF32};

constexpr SizeRule kHeadDims = {.multiple_of = 16, .min = 16, .max = 256};
constexpr SizeRule kGqaRatios = {.min = 1, .max = 16};
constexpr SizeRule kBlockSizes = {.multiple_of = 16, .min = 16};

// The shares are what the kernels are built to reach at the shape of gpt-oss, 8 query heads on one
// read of K and V; `rapt attention bench` replaces them by what this machine does.
constexpr KernelVariant kVariants[] = {
    {
        .name = "tiled",
        .description = "tiles of packed query rows against tiles of keys, online softmax",
        .slots = AttentionSlot::kPrefillFull,
        .min_cpu_level = CpuLevel::kScalar,
        .has_sinks = true,
        .has_window = true,
        .has_soft_cap = true,
        .head_dims = kHeadDims,
        .gqa_ratios = kGqaRatios,
        .kv_types = kEveryKVType,
        .block_sizes = kBlockSizes,
        .best_block_size = 32,
        .batch_invariance = BatchInvariance::kAlways,
        .cost =
            {.fixed_us = 8.0,
             .bandwidth_share = 0.8,
             .compute_share = 0.45,
             .splits_context = true},
    },
    {
        .name = "split-kv",
        .description = "the query heads of a KV head packed, the context split over threads",
        .slots = AttentionSlot::kDecodeFull,
        .min_cpu_level = CpuLevel::kScalar,
        .has_sinks = true,
        .has_window = true,
        .has_soft_cap = true,
        .head_dims = kHeadDims,
        .gqa_ratios = kGqaRatios,
        .kv_types = kEveryKVType,
        .block_sizes = kBlockSizes,
        .best_block_size = 32,
        .batch_invariance = BatchInvariance::kAlways,
        .cost =
            {.fixed_us = 8.0,
             .bandwidth_share = 0.8,
             .compute_share = 0.45,
             .splits_context = true},
    },
    {
        .name = "window",
        .description = "the visible window as one tile of keys, no split and no merge",
        .slots = SlotSet::of(AttentionLayerKind::kSliding),
        .min_cpu_level = CpuLevel::kScalar,
        .has_sinks = true,
        .has_window = true,
        .has_soft_cap = true,
        .head_dims = kHeadDims,
        .gqa_ratios = kGqaRatios,
        .kv_types = kSlidingKVTypes,
        .block_sizes = kBlockSizes,
        .best_block_size = 32,
        .batch_invariance = BatchInvariance::kAlways,
        .cost =
            {.fixed_us = 6.0,
             .bandwidth_share = 0.8,
             .compute_share = 0.4,
             .splits_context = false},
    },
};

constexpr BackendInfo kInfo = {
    .name = "cpu-flash",
    .description = "tiled prefill, split decode and one-tile windows for AVX2 and AVX-512",
    .device = DeviceKind::kCpu,
    .variants = kVariants,
    .numerics_class = "cpu-flash",
    .rank = 10,
    .make = [](const AttentionBackendOptions& options
            ) { return make_cpu_flash_backend(options.num_threads, options.max_positions); },
};

}  // namespace

const BackendInfo& cpu_flash_info() {
  return kInfo;
}

}  // namespace rapt
