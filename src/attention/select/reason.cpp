#include "attention/select/reason.h"

namespace rapt {

std::string_view name_of(ReasonCode code) {
  switch (code) {
    case ReasonCode::kDeviceKind:
      return "DEVICE_KIND";
    case ReasonCode::kDeviceCc:
      return "DEVICE_CC";
    case ReasonCode::kIsa:
      return "ISA";
    case ReasonCode::kNotBuilt:
      return "NOT_BUILT";
    case ReasonCode::kLibMissing:
      return "LIB_MISSING";
    case ReasonCode::kLibTooOld:
      return "LIB_TOO_OLD";
    case ReasonCode::kModelKind:
      return "MODEL_KIND";
    case ReasonCode::kHeadDim:
      return "HEAD_DIM";
    case ReasonCode::kGqaRatio:
      return "GQA_RATIO";
    case ReasonCode::kKVDType:
      return "KV_DTYPE";
    case ReasonCode::kBlockSize:
      return "PAGE_SIZE";
    case ReasonCode::kSinks:
      return "SINKS";
    case ReasonCode::kWindow:
      return "WINDOW";
    case ReasonCode::kSoftCap:
      return "SOFT_CAP";
    case ReasonCode::kMixedBatch:
      return "MIXED_BATCH";
    case ReasonCode::kGraphLevel:
      return "GRAPH_LEVEL";
    case ReasonCode::kDeterminism:
      return "DETERMINISM";
    case ReasonCode::kMaxSequences:
      return "MAX_SEQUENCES";
    case ReasonCode::kContextLen:
      return "CONTEXT_LEN";
    case ReasonCode::kWorkspace:
      return "WORKSPACE";
    case ReasonCode::kProbeFailed:
      return "PROBE_FAILED";
    case ReasonCode::kDisabledByUser:
      return "DISABLED_BY_USER";
    case ReasonCode::kNoKernel:
      return "NO_KERNEL";
  }
  return "?";
}

std::string Reason::text() const {
  switch (code) {
    case ReasonCode::kNotBuilt:
      return "not built into this binary";
    case ReasonCode::kDisabledByUser:
      return "switched off (" + have + ")";
    case ReasonCode::kNoKernel:
      return "has no kernel for " + field;
    case ReasonCode::kProbeFailed:
      return "failed its start-up check (" + have + ", limit " + need + ")";
    case ReasonCode::kLibMissing:
      return "needs " + need + ", " + have;
    case ReasonCode::kSinks:
    case ReasonCode::kWindow:
    case ReasonCode::kSoftCap:
    case ReasonCode::kModelKind:
    case ReasonCode::kDeterminism:
      return have;
    default:
      return "needs " + need + ", this is " + have;
  }
}

std::string Reason::need_text() const {
  return code == ReasonCode::kDeviceCc || code == ReasonCode::kIsa ? "needs " + need : text();
}

}  // namespace rapt
