#pragma once

#include <string_view>
#include <vector>

#include "attention/backend_info.h"
#include "attention/probe.h"
#include "attention/select/plan.h"
#include "base/thread_pool.h"

namespace rapt {

// One variant of a built backend in one slot, checked with one KV type at one CPU level.
struct AttentionCheck {
  std::string_view backend;
  std::string_view variant;
  AttentionSlot slot = AttentionSlot::kPrefillFull;
  KVType kv_type = KVType::kBF16;
  ProbeReport report;
};

// `rapt attention selftest`: every variant of every backend of this binary that runs at `level`, in
// each of its slots and with each KV type, at the heads of `model`. kFull takes minutes a level
// where there is little parallelism. Main thread; owns the pool meanwhile.
std::vector<AttentionCheck> selftest_attention(
    ThreadPool& pool, CpuLevel level, const AttentionModel& model, ProbeExtent extent
);

}  // namespace rapt
