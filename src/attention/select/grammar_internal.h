#pragma once

#include <string>
#include <vector>

#include "attention/select/settings.h"

namespace rapt {

// One name that one setting gives to some slots.
struct SlotClaim {
  SlotSet slots;
  std::string name;  // as written, or the name that a switch stands for
  std::string text;  // the part of the setting that says so, as messages quote it
  int weight = 0;    // more specific slots weigh more; switches that only refine weigh -1
  // Of flash_attn_version: it also refines a FLASH_ATTN that was named elsewhere.
  bool is_flash_version = false;
};

struct SettingClaims {
  std::vector<SlotClaim> claims;
  std::vector<AttentionMessage> messages;
};

// What one setting says. The error names the setting, the part that is wrong and what is allowed.
Result<SettingClaims> read_setting(const AttentionSetting& setting, const AttentionOption& option);

// "prefill", "sliding", "prefill.full", "decode_sliding", "full.prefill", vLLM's "full_attention"
// and "sliding_window". Empty: none.
SlotSet find_slots(std::string_view name);

}  // namespace rapt
