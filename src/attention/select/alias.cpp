#include "attention/select/alias_internal.h"
#include "attention/select/settings.h"
#include "attention/select/text_internal.h"

namespace rapt {

std::string_view name_of(AliasClass alias_class) {
  switch (alias_class) {
    case AliasClass::kRole:
      return "role";
    case AliasClass::kPortable:
      return "portable";
    case AliasClass::kExact:
      return "exact";
    case AliasClass::kRemoved:
      return "removed";
    case AliasClass::kOtherDevice:
      return "other device";
    case AliasClass::kMlaOnly:
      return "MLA models only";
    case AliasClass::kOtherModel:
      return "other models";
    case AliasClass::kOtherOption:
      return "another option";
    case AliasClass::kNotSelectable:
      return "not selectable";
    case AliasClass::kTriState:
      return "tri-state";
  }
  return "?";
}

std::vector<const AliasInfo*> all_aliases() {
  std::vector<const AliasInfo*> all;
  for (const std::span<const AliasInfo> part : {counterpart_aliases(), foreign_aliases()}) {
    for (const AliasInfo& alias : part) {
      all.push_back(&alias);
    }
  }
  return all;
}

const AliasInfo* find_alias(std::string_view normalized) {
  for (const std::span<const AliasInfo> part : {counterpart_aliases(), foreign_aliases()}) {
    for (const AliasInfo& alias : part) {
      if (normalized_backend_name(alias.name) == normalized ||
          contains_word(alias.spellings, normalized)) {
        return &alias;
      }
    }
  }
  return nullptr;
}

const AliasTarget& target_on(const AliasInfo& alias, const DeviceFacts& device) {
  if (device.kind == DeviceKind::kCpu) {
    return alias.targets.cpu;
  }
  switch (device.compute_capability / 10) {
    case 9:
      return alias.targets.sm90;
    case 10:
      return alias.targets.sm100;
    default:
      return alias.targets.gpu;
  }
}

}  // namespace rapt
