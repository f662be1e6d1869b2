#include "attention/selftest.h"

#include "attention/registry.h"

namespace rapt {

std::vector<AttentionCheck> selftest_attention(
    ThreadPool& pool, CpuLevel level, const AttentionModel& model, ProbeExtent extent
) {
  const Stream stream{&pool, level};
  std::vector<AttentionCheck> checks;
  for (const BackendInfo* backend : attention_backends()) {
    if (backend->make == nullptr || backend->device != DeviceKind::kCpu) {
      continue;
    }
    for (const KernelVariant& variant : backend->variants) {
      for (const AttentionSlot slot : kAttentionSlots) {
        if (!variant.slots.contains(slot) || level < variant.min_cpu_level) {
          continue;
        }
        for (const KVType kv_type : variant.kv_types) {
          const ProbeSetting setting{.model = model, .kv_type = kv_type, .extent = extent};
          checks.push_back(
              {backend->name,
               variant.name,
               slot,
               kv_type,
               probe_attention(stream, *backend, variant, slot, setting)}
          );
        }
      }
    }
  }
  return checks;
}

}  // namespace rapt
