#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/select/message.h"
#include "attention/slots.h"
#include "base/result.h"

// What the user asked for: every flag, key of a config file and environment variable that concerns
// attention, in the spelling of any engine, goes through here. Nothing is ignored in silence: each
// setting is used or gets a message. Plain values, any thread.

namespace rapt {

// Where a setting came from; later ones win.
enum class SettingOrigin {
  kAuto,
  kVllmEnvironment,  // VLLM_*, and other engines' variables
  kEnvironment,      // RAPT_*
  kConfigFile,
  kCommandLine,
};

std::string_view name_of(SettingOrigin origin);

// One setting as it was found.
struct AttentionSetting {
  SettingOrigin origin = SettingOrigin::kCommandLine;
  std::string option;  // as it was written: "--attention-backend", "VLLM_ATTENTION_BACKEND"
  std::string value;

  // "--attention-backend X", "attention-backend: X", "VLLM_ATTENTION_BACKEND=X"
  std::string text() const;
};

// What a known option does.
enum class AttentionOptionKind {
  kBackend,         // auto | NAME | slot=NAME,...
  kPrefillBackend,  // NAME for the prefill slots
  kDecodeBackend,   // NAME for the decode slots
  kJsonConfig,      // vLLM's {"backend": ..., "backend_per_kind": {...}, ...}
  kPolicy,          // strict | prefer
  kBothPhases,      // NAME or PREFILL,DECODE
  kFlashVersion,    // 2 | 3 | 4: the names fa2, fa3, fa4
  kUseTrtllm,       // true: the name trtllm_mha
  kUseTritonFlash,  // true: the name TRITON_ATTN
  kTriState,        // on | off | auto: llama.cpp's -fa, Ollama's variable
  kExplained,       // nothing to choose here: `note` says why, or what to use
};

struct AttentionOption {
  std::string_view name;  // with its dashes, or a variable's name; `*` at its end: any such name
  AttentionOptionKind kind = AttentionOptionKind::kBackend;
  std::string_view engine;  // whose spelling it is: "Rapt", "vLLM", "SGLang", "llama.cpp", ...
  std::string_view note;    // what it does here, a sentence without its full stop

  bool is_variable() const { return !name.starts_with('-'); }
};

// Every known option. The command line takes the flags among them; app/ reads the variables.
std::span<const AttentionOption> attention_options();

// By name: dashes in front, case and `-` against `_` do not matter, and a field of vLLM's
// attention-config may have that name and a dot in front of it. Null: no such option.
const AttentionOption* find_attention_option(std::string_view name);

// What was asked for one slot.
struct SlotChoice {
  std::string name;  // "" when nothing was; else as written, e.g. "TRITON_ATTN_VLLM_V1"
  std::string text;  // the setting: AttentionSetting::text()
  SettingOrigin origin = SettingOrigin::kAuto;
  bool is_strict = false;  // what cannot run is an error; else a warning, and auto decides

  bool is_auto() const { return name.empty(); }
};

struct AttentionChoices {
  std::array<SlotChoice, kNumAttentionSlots> slots;
  std::vector<AttentionMessage> messages;  // shadowed values, explained options, bad variables
};

// Sorts out what was asked: command line over config file over RAPT_ variables over others'; within
// one origin the most specific slot name wins. Text that cannot be understood is an error from the
// command line or a config file, and a warning from the environment. Names are not looked up yet.
Result<AttentionChoices> parse_attention_settings(std::span<const AttentionSetting> settings);

// The name without what engines' history put around it, for comparing: "AttentionBackend.", a class
// path's front, "_VLLM_V1", "_V1", "_BACKEND" go; lower case, `_` for `-`. "auto" for the empty
// text, "none", "default" and "auto".
std::string normalized_backend_name(std::string_view name);

}  // namespace rapt
