#pragma once

#include <string>
#include <string_view>

namespace rapt {

// Why a kernel variant cannot fill a slot.
enum class ReasonCode {
  kDeviceKind,
  kDeviceCc,
  kIsa,
  kNotBuilt,
  kLibMissing,
  kLibTooOld,
  kModelKind,  // MLA
  kHeadDim,
  kGqaRatio,
  kKVDType,
  kBlockSize,
  kSinks,
  kWindow,
  kSoftCap,
  kMixedBatch,
  kGraphLevel,
  kDeterminism,
  kMaxSequences,
  kContextLen,
  kWorkspace,
  kProbeFailed,
  kDisabledByUser,
  kNoKernel,  // the backend has none for this slot
};

// "DEVICE_CC": stable, for programs.
std::string_view name_of(ReasonCode code);

struct Reason {
  ReasonCode code = ReasonCode::kNotBuilt;
  std::string field;  // what was compared: "head_dim"
  std::string need;   // what the kernel needs: "a multiple of 16 up to 256"
  std::string have;   // what there is: "80"
  std::string hint;   // what would work; "" when nothing would

  // One clause: "needs SM 9.0, this is SM 8.9"; and without what there is: "needs SM 9.0".
  std::string text() const;
  std::string need_text() const;

  friend bool operator==(const Reason&, const Reason&) = default;
};

}  // namespace rapt
