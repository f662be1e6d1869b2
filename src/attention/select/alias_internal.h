#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "attention/select/device.h"

// Other engines' names for attention backends, as data: what each was and what does its work here.
// To teach Rapt a name, add a row to alias_names.cpp (it has a counterpart) or alias_foreign.cpp
// (it has none).

namespace rapt {

enum class AliasClass {
  kRole,           // stands for "the fast kernel of that family"
  kPortable,       // stands for "the kernel that runs anywhere"
  kExact,          // stands for one thing only; nothing else is taken instead
  kRemoved,        // gone where it came from
  kOtherDevice,    // of devices that Rapt does not run on
  kMlaOnly,        // for models with multi-head latent attention
  kOtherModel,     // for other families of models
  kOtherOption,    // another option's business
  kNotSelectable,  // never meant to be named
  kTriState,       // on or off, without a name
};

// As the table in docs/ATTENTION.md calls it.
std::string_view name_of(AliasClass alias_class);

// What a name means on one kind of device.
struct AliasTarget {
  enum class Kind {
    kFast,      // whatever auto picks
    kBackend,   // this one
    kNone,      // nothing
    kConflict,  // it belongs to another kind of device that Rapt does run on
  };

  Kind kind = Kind::kNone;
  std::string_view backend = {};
};

struct AliasTargets {
  AliasTarget cpu;
  AliasTarget gpu;  // SM 7.5 to 8.9, 11.0 and 12.x
  AliasTarget sm90;
  AliasTarget sm100;  // 10.x
};

struct AliasInfo {
  std::string_view name;       // as its engine writes it
  std::string_view spellings;  // its other names, normalised, blank-separated
  std::string_view engines;    // whose name it is
  AliasClass alias_class = AliasClass::kRole;
  AliasTargets targets;
  std::string_view what;       // what it is there: a noun phrase
  std::string_view note = {};  // what to know of it here: a sentence without its full stop
};

inline constexpr AliasTarget kFastTarget = {AliasTarget::Kind::kFast};
inline constexpr AliasTarget kNoTarget = {AliasTarget::Kind::kNone};
inline constexpr AliasTarget kConflictTarget = {AliasTarget::Kind::kConflict};
inline constexpr AliasTarget kCpuFlash = {AliasTarget::Kind::kBackend, "cpu-flash"};
inline constexpr AliasTarget kCpuRef = {AliasTarget::Kind::kBackend, "cpu-ref"};
inline constexpr AliasTarget kCudaRef = {AliasTarget::Kind::kBackend, "cuda-ref"};
inline constexpr AliasTarget kCudaMma = {AliasTarget::Kind::kBackend, "cuda-mma"};
inline constexpr AliasTarget kCudaHopper = {AliasTarget::Kind::kBackend, "cuda-hopper"};
inline constexpr AliasTarget kCudnn = {AliasTarget::Kind::kBackend, "cudnn"};

// Names that something here stands for, and names that nothing does.
std::span<const AliasInfo> counterpart_aliases();
std::span<const AliasInfo> foreign_aliases();

// Both, in that order.
std::vector<const AliasInfo*> all_aliases();

// By a normalised name (normalized_backend_name()); null: unknown.
const AliasInfo* find_alias(std::string_view normalized);

const AliasTarget& target_on(const AliasInfo& alias, const DeviceFacts& device);

}  // namespace rapt
