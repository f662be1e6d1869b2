#include <algorithm>
#include <array>
#include <optional>

#include "attention/select/grammar_internal.h"
#include "attention/select/text_internal.h"
#include "base/json.h"
#include "base/nearest_name.h"

namespace rapt {

namespace {

constexpr std::array<std::string_view, 8> kSlotNames = {
    "prefill",
    "decode",
    "full",
    "sliding",
    "prefill.full",
    "prefill.sliding",
    "decode.full",
    "decode.sliding"};

// What vLLM's backend_per_kind may name beside the kinds that Rapt's models have.
constexpr std::array<std::string_view, 6> kOtherLayerKinds = {
    "mla_attention",
    "sliding_window_mla",
    "cross_attention",
    "encoder_only_attention",
    "chunked_local_attention",
    "mamba"};

int weight_of(SlotSet slots) {
  return slots.size() == 4 ? 0 : slots.size() == 2 ? 1 : 2;
}

// The setting with another value, or with a field behind its option's name.
std::string text_with_value(const AttentionSetting& setting, std::string value) {
  return AttentionSetting{setting.origin, setting.option, std::move(value)}.text();
}

std::string text_with_field(
    const AttentionSetting& setting, std::string_view field, std::string value
) {
  return AttentionSetting{
      setting.origin, setting.option + "." + std::string(field), std::move(value)}
      .text();
}

std::optional<bool> read_switch(std::string_view value) {
  const std::string lower = lower_case(trim_blanks(value));
  if (contains_word("1 true on yes enabled", lower)) {
    return true;
  }
  if (contains_word("0 false off no disabled", lower)) {
    return false;
  }
  return std::nullopt;
}

Error wrong_value(const AttentionSetting& setting, std::string_view expected) {
  return invalid_argument(setting.text() + ": expected " + std::string(expected));
}

SettingClaims one_claim(
    const AttentionSetting& setting, SlotSet slots, std::string_view name, int weight
) {
  SettingClaims out;
  out.claims.push_back({slots, std::string(name), setting.text(), weight});
  return out;
}

SettingClaims only_message(const AttentionSetting& setting, std::string_view note) {
  SettingClaims out;
  out.messages.push_back(
      {MessageLevel::kInfo, setting.text() + " has no effect: " + std::string(note) + "."}
  );
  return out;
}

// auto | NAME | slot=NAME[,slot=NAME...]
Result<SettingClaims> read_backends(const AttentionSetting& setting) {
  if (setting.value.find('=') == std::string::npos) {
    if (setting.value.find(',') != std::string::npos) {
      return wrong_value(
          setting, "one name, or slot=NAME for each, such as prefill=NAME,decode=NAME"
      );
    }
    return one_claim(setting, SlotSet::all(), trim_blanks(setting.value), 0);
  }
  SettingClaims out;
  for (const std::string& piece : split(setting.value, ',')) {
    const std::size_t equals = piece.find('=');
    if (equals == std::string::npos || trim_blanks(piece.substr(equals + 1)).empty()) {
      return invalid_argument(
          setting.text() + ": '" + piece + "' is not slot=NAME; a name for all slots stands alone"
      );
    }
    const std::string slot_name = lower_case(trim_blanks(piece.substr(0, equals)));
    const SlotSet slots = find_slots(slot_name);
    if (slots.is_empty()) {
      const std::vector<std::string> names(kSlotNames.begin(), kSlotNames.end());
      return invalid_argument(
          setting.text() + ": unknown slot '" + slot_name + "'" +
          did_you_mean(slot_name, kSlotNames) + " Slots: " + join(names, ", ")
      );
    }
    for (const SlotClaim& other : out.claims) {
      if (other.slots == slots) {
        return invalid_argument(setting.text() + ": slot '" + slot_name + "' is given twice");
      }
    }
    const std::string name(trim_blanks(piece.substr(equals + 1)));
    out.claims.push_back({slots, name, text_with_value(setting, piece), weight_of(slots)});
  }
  return out;
}

Result<SettingClaims> read_both_phases(const AttentionSetting& setting) {
  const std::vector<std::string> names = split(setting.value, ',');
  if (names.size() == 1) {
    return read_backends(setting);
  }
  if (names.size() != 2) {
    return wrong_value(setting, "NAME or PREFILL,DECODE");
  }
  SettingClaims out;
  out.claims.push_back(
      {SlotSet::of(AttentionPhase::kPrefill), names[0], text_with_value(setting, names[0]), 1}
  );
  out.claims.push_back(
      {SlotSet::of(AttentionPhase::kDecode), names[1], text_with_value(setting, names[1]), 1}
  );
  return out;
}

Result<SettingClaims> read_per_kind(const AttentionSetting& setting, const json::value& kinds) {
  if (!kinds.is_object()) {
    return invalid_argument(
        setting.text() +
        ": backend_per_kind must be an object, such as {\"sliding_window\": \"NAME\"}"
    );
  }
  SettingClaims out;
  for (const auto& [key, value] : kinds.as_object()) {
    const std::string kind(key);
    if (value.is_null()) {
      continue;
    }
    if (!value.is_string()) {
      return invalid_argument(setting.text() + ": backend_per_kind." + kind + " must be a name");
    }
    const std::string name(value.as_string());
    const std::string text = text_with_field(setting, "backend_per_kind." + kind, name);
    const SlotSet slots = find_slots(kind);
    if (slots.size() == 2) {
      out.claims.push_back({slots, name, text, 1});
    } else if (std::find(kOtherLayerKinds.begin(), kOtherLayerKinds.end(), kind) != kOtherLayerKinds.end()) {
      out.messages.push_back(
          {MessageLevel::kWarning, text + " has no effect: this model has no such layer."}
      );
    } else {
      return invalid_argument(
          setting.text() + ": unknown layer kind '" + kind +
          "' in backend_per_kind; known: full_attention, sliding_window"
      );
    }
  }
  return out;
}

std::string json_scalar_text(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : to_json_text(value);
}

Result<SettingClaims> read_json_config(const AttentionSetting& setting) {
  Result<json::value> parsed = parse_json(setting.value, setting.option);
  if (!parsed) {
    return invalid_argument(parsed.error().message);
  }
  if (!parsed->is_object()) {
    return wrong_value(setting, "a JSON object, such as {\"backend\": \"NAME\"}");
  }
  SettingClaims out;
  for (const auto& [key, value] : parsed->as_object()) {
    const std::string field(key);
    if (value.is_null()) {
      continue;
    }
    Result<SettingClaims> part = SettingClaims{};
    const AttentionOption* option = find_attention_option("attention_config." + field);
    if (field == "backend_per_kind") {
      part = read_per_kind(setting, value);
    } else if (option == nullptr || option->kind == AttentionOptionKind::kJsonConfig) {
      return invalid_argument(
          setting.text() + ": unknown field '" + field +
          "'; known: backend, backend_per_kind, flash_attn_version, use_trtllm_attention"
      );
    } else {
      part = read_setting(
          {setting.origin, setting.option + "." + field, json_scalar_text(value)}, *option
      );
    }
    if (!part) {
      return std::move(part).error();
    }
    out.claims.insert(out.claims.end(), part->claims.begin(), part->claims.end());
    out.messages.insert(out.messages.end(), part->messages.begin(), part->messages.end());
  }
  return out;
}

// A switch that stands for a name when it is on.
Result<SettingClaims> read_switch_for(
    const AttentionSetting& setting, std::string_view name, std::string_view note_when_off
) {
  const std::optional<bool> is_on = read_switch(setting.value);
  if (!is_on.has_value()) {
    return wrong_value(setting, "1 or 0");
  }
  return *is_on ? one_claim(setting, SlotSet::all(), name, -1)
                : only_message(setting, note_when_off);
}

Result<SettingClaims> read_tri_state(const AttentionSetting& setting) {
  if (lower_case(trim_blanks(setting.value)) == "auto") {
    return one_claim(setting, SlotSet::all(), "auto", -1);
  }
  const std::optional<bool> is_on = read_switch(setting.value);
  if (!is_on.has_value()) {
    return wrong_value(setting, "on, off or auto");
  }
  return one_claim(setting, SlotSet::all(), *is_on ? "fa_on" : "fa_off", -1);
}

}  // namespace

SlotSet find_slots(std::string_view name) {
  std::string lower = lower_case(name);
  for (char& c : lower) {
    c = c == '.' || c == '-' || c == '/' ? '_' : c;
  }
  const std::array<std::pair<std::string_view, SlotSet>, 7> parts = {{
      {"prefill", SlotSet::of(AttentionPhase::kPrefill)},
      {"decode", SlotSet::of(AttentionPhase::kDecode)},
      {"full_attention", SlotSet::of(AttentionLayerKind::kFull)},
      {"sliding_attention", SlotSet::of(AttentionLayerKind::kSliding)},
      {"sliding_window", SlotSet::of(AttentionLayerKind::kSliding)},
      {"full", SlotSet::of(AttentionLayerKind::kFull)},
      {"sliding", SlotSet::of(AttentionLayerKind::kSliding)},
  }};
  for (const auto& [first, first_slots] : parts) {
    if (lower == first) {
      return first_slots;
    }
    for (const auto& [second, second_slots] : parts) {
      if (lower == std::string(first) + "_" + std::string(second)) {
        const SlotSet both = first_slots & second_slots;
        return both.size() == 1 ? both : SlotSet::none();
      }
    }
  }
  return SlotSet::none();
}

Result<SettingClaims> read_setting(const AttentionSetting& setting, const AttentionOption& option) {
  switch (option.kind) {
    case AttentionOptionKind::kBackend:
      return read_backends(setting);
    case AttentionOptionKind::kPrefillBackend:
      return one_claim(
          setting, SlotSet::of(AttentionPhase::kPrefill), trim_blanks(setting.value), 1
      );
    case AttentionOptionKind::kDecodeBackend:
      return one_claim(
          setting, SlotSet::of(AttentionPhase::kDecode), trim_blanks(setting.value), 1
      );
    case AttentionOptionKind::kBothPhases:
      return read_both_phases(setting);
    case AttentionOptionKind::kJsonConfig:
      return read_json_config(setting);
    case AttentionOptionKind::kPolicy: {
      const std::string policy = lower_case(trim_blanks(setting.value));
      if (policy != "strict" && policy != "prefer") {
        return wrong_value(setting, "strict or prefer");
      }
      return SettingClaims{};
    }
    case AttentionOptionKind::kFlashVersion: {
      const std::string_view version = trim_blanks(setting.value);
      if (version != "2" && version != "3" && version != "4") {
        return wrong_value(setting, "2, 3 or 4");
      }
      SettingClaims out = one_claim(setting, SlotSet::all(), "fa" + std::string(version), -1);
      out.claims.front().is_flash_version = true;
      return out;
    }
    case AttentionOptionKind::kUseTrtllm:
      return read_switch_for(setting, "trtllm_mha", "TensorRT-LLM's kernels are not used here");
    case AttentionOptionKind::kUseTritonFlash:
      return read_switch_for(setting, "triton_attn", "Triton is not used here");
    case AttentionOptionKind::kTriState:
      return read_tri_state(setting);
    case AttentionOptionKind::kExplained:
      return only_message(setting, option.note);
  }
  return SettingClaims{};
}

}  // namespace rapt
