#pragma once

#include "attention/kv_cache.h"
#include "attention/metadata.h"
#include "attention/planned_attention.h"
#include "quant/linear_mode.h"
#include "tensor/buffer.h"
#include "tensor/stream.h"

namespace rapt {

// All that a forward pass needs beside weights and inputs: the explicit argument of every layer, in
// the place of globals. Views only; made by the runner once a step.
struct ForwardContext {
  Stream stream;
  LinearMode linear_mode = LinearMode::kF32;
  Workspace* workspace = nullptr;
  KVCache* kv_cache = nullptr;
  PlannedAttention* attention = nullptr;
  const AttentionMetadata* metadata = nullptr;
};

// Gives back, at the end of a scope, the workspace that was taken in it.
class WorkspaceScope {
 public:
  explicit WorkspaceScope(Workspace& workspace) : workspace_(workspace), mark_(workspace.mark()) {}

  ~WorkspaceScope() { workspace_.rewind(mark_); }

  WorkspaceScope(const WorkspaceScope&) = delete;
  WorkspaceScope& operator=(const WorkspaceScope&) = delete;

 private:
  Workspace& workspace_;
  std::uint64_t mark_;
};

}  // namespace rapt
