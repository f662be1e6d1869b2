#include "attention/select/settings.h"

#include <algorithm>
#include <set>

#include "attention/select/grammar_internal.h"
#include "attention/select/text_internal.h"

namespace rapt {

namespace {

// A setting and what it claims; `origin` and `order` decide between claims.
struct Reading {
  const AttentionSetting* setting = nullptr;
  SettingClaims said;
};

struct Winner {
  const Reading* reading = nullptr;
  const SlotClaim* claim = nullptr;
};

bool is_from_environment(SettingOrigin origin) {
  return origin <= SettingOrigin::kEnvironment;
}

bool is_stronger(const Winner& a, const Winner& b) {
  if (b.claim == nullptr) {
    return true;
  }
  const SettingOrigin a_origin = a.reading->setting->origin;
  const SettingOrigin b_origin = b.reading->setting->origin;
  return a_origin != b_origin ? a_origin > b_origin : a.claim->weight > b.claim->weight;
}

// Two claims on one slot that nothing decides between.
bool contradicts(const Winner& a, const Winner& b) {
  return a.claim != nullptr && b.claim != nullptr &&
         a.reading->setting->origin == b.reading->setting->origin &&
         a.claim->weight == b.claim->weight &&
         normalized_backend_name(a.claim->name) != normalized_backend_name(b.claim->name);
}

Error contradiction(AttentionSlot slot, const Winner& a, const Winner& b) {
  return invalid_argument(
      a.claim->text + " and " + b.claim->text + " both name a backend for " +
      std::string(name_of(slot)) + "; give one of them, or name that slot itself with " +
      std::string(name_of(slot)) + "=NAME"
  );
}

Result<std::array<Winner, kNumAttentionSlots>> find_winners(
    const std::vector<Reading>& readings, std::vector<AttentionMessage>& messages
) {
  std::array<Winner, kNumAttentionSlots> winners;
  for (const AttentionSlot slot : kAttentionSlots) {
    Winner best;
    Winner rival;  // what contradicts the best one
    for (const Reading& reading : readings) {
      for (const SlotClaim& claim : reading.said.claims) {
        const Winner candidate{&reading, &claim};
        if (!claim.slots.contains(slot)) {
          continue;
        }
        if (is_stronger(candidate, best)) {
          best = candidate;
          rival = {};
        } else if (contradicts(best, candidate)) {
          rival = candidate;
        }
      }
    }
    if (rival.claim != nullptr) {
      Error error = contradiction(slot, best, rival);
      if (!is_from_environment(best.reading->setting->origin)) {
        return error;
      }
      AttentionMessage message{
          MessageLevel::kWarning, error.message + ". Going on with " + best.claim->text + "."};
      if (std::find(messages.begin(), messages.end(), message) == messages.end()) {
        messages.push_back(std::move(message));
      }
    }
    winners[static_cast<std::size_t>(index_of(slot))] = best;
  }
  return winners;
}

bool names_flash_attention(std::string_view name) {
  return contains_word(
      "flash_attn flash_attention flashattention fa", normalized_backend_name(name)
  );
}

// FLASH_ATTN with flash_attn_version=3 is fa3, wherever the two were said.
void refine_by_version(
    const std::vector<Reading>& readings, std::array<Winner, kNumAttentionSlots>& winners
) {
  Winner version;
  for (const Reading& reading : readings) {
    for (const SlotClaim& claim : reading.said.claims) {
      if (claim.is_flash_version && is_stronger({&reading, &claim}, version)) {
        version = {&reading, &claim};
      }
    }
  }
  for (Winner& winner : winners) {
    if (version.claim != nullptr && winner.claim != nullptr &&
        names_flash_attention(winner.claim->name)) {
      winner = version;
    }
  }
}

bool is_policy(const Reading& reading) {
  const AttentionOption* option = find_attention_option(reading.setting->option);
  return option != nullptr && option->kind == AttentionOptionKind::kPolicy;
}

// The slots of which other settings won, said in a word: "prefill", "decode.full".
std::string name_slots(SlotSet slots) {
  for (const AttentionPhase phase : {AttentionPhase::kPrefill, AttentionPhase::kDecode}) {
    if (slots == SlotSet::of(phase)) {
      return std::string(name_of(phase));
    }
  }
  for (const AttentionLayerKind kind : {AttentionLayerKind::kFull, AttentionLayerKind::kSliding}) {
    if (slots == SlotSet::of(kind)) {
      return std::string(name_of(kind));
    }
  }
  std::vector<std::string> names;
  for (const AttentionSlot slot : kAttentionSlots) {
    if (slots.contains(slot)) {
      names.emplace_back(name_of(slot));
    }
  }
  return join_and(names);
}

// Says, once a setting, that something stronger was said.
void tell_shadowed(
    const Reading& reading,
    const std::array<Winner, kNumAttentionSlots>& winners,
    std::vector<AttentionMessage>& messages
) {
  SlotSet won;
  SlotSet lost;
  const Winner* stronger = nullptr;
  for (const SlotClaim& claim : reading.said.claims) {
    for (const AttentionSlot slot : kAttentionSlots) {
      const Winner& winner = winners[static_cast<std::size_t>(index_of(slot))];
      if (!claim.slots.contains(slot) || winner.claim == nullptr) {
        continue;
      }
      if (winner.reading == &reading) {
        won = won | slot;
      } else if (normalized_backend_name(claim.name) != "auto" &&
                 normalized_backend_name(winner.claim->name) != normalized_backend_name(claim.name) &&
                 !(winner.claim->is_flash_version && names_flash_attention(claim.name))) {
        lost = lost | slot;
        stronger = &winner;
      }
    }
  }
  if (stronger == nullptr || stronger->reading->setting->origin == SettingOrigin::kAuto) {
    return;
  }
  const bool is_same_origin = stronger->reading->setting->origin == reading.setting->origin;
  if (won.is_empty()) {
    messages.push_back(
        {MessageLevel::kInfo,
         reading.setting->text() + " has no effect: " + stronger->claim->text + " wins."}
    );
  } else if (!is_same_origin) {
    messages.push_back(
        {MessageLevel::kInfo,
         reading.setting->text() + " counts for " + name_slots(won) +
             " only: " + stronger->claim->text + " wins for " + name_slots(lost) + "."}
    );
  }
}

}  // namespace

std::string_view name_of(SettingOrigin origin) {
  switch (origin) {
    case SettingOrigin::kAuto:
      return "auto";
    case SettingOrigin::kVllmEnvironment:
      return "environment of another engine";
    case SettingOrigin::kEnvironment:
      return "environment";
    case SettingOrigin::kConfigFile:
      return "config file";
    case SettingOrigin::kCommandLine:
      return "command line";
  }
  return "?";
}

std::string AttentionSetting::text() const {
  switch (origin) {
    case SettingOrigin::kVllmEnvironment:
    case SettingOrigin::kEnvironment:
      return option + "=" + value;
    case SettingOrigin::kConfigFile:
      return option + ": " + value;
    case SettingOrigin::kAuto:
    case SettingOrigin::kCommandLine:
      break;
  }
  return option + " " + value;
}

Result<AttentionChoices> parse_attention_settings(std::span<const AttentionSetting> settings) {
  AttentionChoices choices;
  std::vector<Reading> readings;
  readings.reserve(settings.size());
  const AttentionSetting* policy = nullptr;
  for (const AttentionSetting& setting : settings) {
    const AttentionOption* option = find_attention_option(setting.option);
    Result<SettingClaims> said =
        option != nullptr
            ? read_setting(setting, *option)
            : Result<SettingClaims>(
                  invalid_argument(setting.text() + ": no option of attention has this name")
              );
    if (!said && !is_from_environment(setting.origin)) {
      return std::move(said).error();
    }
    if (!said) {
      choices.messages.push_back(
          {MessageLevel::kWarning, said.error().message + ". Going on without it."}
      );
      continue;
    }
    choices.messages.insert(choices.messages.end(), said->messages.begin(), said->messages.end());
    readings.push_back({&setting, std::move(*said)});
    if (is_policy(readings.back()) && (policy == nullptr || policy->origin < setting.origin)) {
      policy = &setting;
    }
  }
  ASSIGN_OR_RETURN(auto winners, find_winners(readings, choices.messages));
  refine_by_version(readings, winners);
  for (const AttentionSlot slot : kAttentionSlots) {
    const Winner& winner = winners[static_cast<std::size_t>(index_of(slot))];
    if (winner.claim == nullptr || normalized_backend_name(winner.claim->name) == "auto") {
      continue;
    }
    const SettingOrigin origin = winner.reading->setting->origin;
    const bool prefers = policy != nullptr && lower_case(trim_blanks(policy->value)) == "prefer";
    choices.slots[static_cast<std::size_t>(index_of(slot))] = {
        .name = winner.claim->name,
        .text = winner.claim->text,
        .origin = origin,
        // A variable may be years old and nobody's intention: it never stops a start.
        .is_strict = !is_from_environment(origin) && !prefers,
    };
  }
  for (const Reading& reading : readings) {
    tell_shadowed(reading, winners, choices.messages);
  }
  return choices;
}

}  // namespace rapt
