#pragma once

#include <span>

#include "attention/backend_info.h"
#include "attention/select/plan.h"
#include "tensor/stream.h"

// Claims are proven: before a kernel is used, it is run on made-up problems and compared with
// cpu-ref on the same cache. Each problem comes from a bug that some engine has had: sinks dropped,
// counted twice or indexed by the wrong head, a window one key too long, NaN from slots that nobody
// may see. Main thread, before the engine starts; owns what it allocates.

namespace rapt {

enum class ProbeExtent {
  kQuick,  // a few problems in the model's shape, some milliseconds: at every start
  kFull,   // all of them, seconds: `rapt attention selftest`
};

// What is to be run: the model's heads and window (fewer KV heads, since they are alike), the KV
// type and block size of the run.
struct ProbeSetting {
  AttentionModel model;
  KVType kv_type = KVType::kBF16;
  int block_size = 16;  // 0: 16
  ProbeExtent extent = ProbeExtent::kQuick;
};

// The variant's backend in one slot, on the stream's level and threads. The backend must be built
// (`make` is there) and the variant must claim the setting.
ProbeReport probe_attention(
    const Stream& stream,
    const BackendInfo& backend,
    const KernelVariant& variant,
    AttentionSlot slot,
    const ProbeSetting& setting
);

// Largest difference from cpu-ref that passes, where values are around 1.
inline constexpr double kProbeLimit = 1e-4;

}  // namespace rapt
