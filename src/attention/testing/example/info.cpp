#include "attention/backend_info.h"
#include "attention/testing/example/backend_internal.h"

namespace rapt {

namespace {

constexpr KVType kKVTypes[] = {KVType::kBF16, KVType::kF32};

constexpr KernelVariant kVariants[] = {{
    .name = "double",
    .description = "one query head of one row at a time, in double precision",
    .slots = SlotSet::all(),
    .has_sinks = true,
    .has_window = true,
    .kv_types = kKVTypes,
    .batch_invariance = BatchInvariance::kAlways,
    .cost =
        {.fixed_us = 5.0,
         .bandwidth_share = 0.2,
         .arithmetic = Arithmetic::kScalar,
         .compute_share = 0.5,
         .packs_heads = false},
}};

constexpr BackendInfo kInfo = {
    .name = "example",
    .description = "attention in double precision, to show how a backend is added",
    .device = DeviceKind::kCpu,
    .variants = kVariants,
    .numerics_class = "example",
    .rank = 99,
    .make = [](const AttentionBackendOptions&) { return make_example_backend(); },
};

}  // namespace

const BackendInfo& example_info() {
  return kInfo;
}

}  // namespace rapt
