#include <algorithm>
#include <array>
#include <string>

#include "app/flag_sources_internal.h"
#include "app/flag_table_internal.h"
#include "app/flag_values_internal.h"
#include "attention/kv_layout.h"
#include "base/json.h"

// Flags that choose the attention backend, ours and those that other engines' users know. What they
// mean is attention/select/'s business; here every one becomes an AttentionSetting.

namespace rapt {

namespace {

constexpr unsigned kChoosing = kLoading | kEvalQualityCommand | kAttentionCommand;

SettingOrigin origin_of(FlagSource source) {
  switch (source) {
    case FlagSource::kCommandLine:
      return SettingOrigin::kCommandLine;
    case FlagSource::kConfigFile:
      return SettingOrigin::kConfigFile;
    case FlagSource::kEnvironment:
      return SettingOrigin::kEnvironment;
    case FlagSource::kDefault:
      return SettingOrigin::kAuto;
  }
  return SettingOrigin::kAuto;
}

// A flag's name as the user wrote it in that place.
std::string option_of(const FlagValue& value) {
  switch (value.source) {
    case FlagSource::kConfigFile:
      return std::string(value.name);
    case FlagSource::kEnvironment:
      return environment_name(value.name);
    case FlagSource::kCommandLine:
    case FlagSource::kDefault:
      return "--" + std::string(value.name);
  }
  return std::string(value.name);
}

void add_setting(FlagTargets& to, const FlagValue& value, std::string suffix, std::string text) {
  to.load.attention.push_back(
      {origin_of(value.source), option_of(value) + std::move(suffix), std::move(text)}
  );
}

void assign_text(FlagTargets& to, const FlagValue& value) {
  add_setting(to, value, "", value.text);
}

void assign_switch(FlagTargets& to, const FlagValue& value) {
  add_setting(to, value, "", value.on ? "true" : "false");
}

void assign_pairs(FlagTargets& to, const FlagValue& value) {
  for (const auto& [key, text] : value.pairs) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) {
      add_setting(to, value, key.empty() ? "" : "." + key, text);
    } else {  // backend_per_kind.full_attention
      const json::value whole = {{key.substr(0, dot), {{key.substr(dot + 1), text}}}};
      add_setting(to, value, "", to_json_text(whole));
    }
  }
}

// Options of other engines that have no row of their own: taken, and explained or used as
// attention/select/ says, but not listed by --help.
std::vector<FlagSpec> rows_of_options(std::span<const FlagSpec> own) {
  std::vector<FlagSpec> rows;
  for (const AttentionOption& option : attention_options()) {
    const bool is_known = std::any_of(own.begin(), own.end(), [&](const FlagSpec& flag) {
      const std::vector<std::string_view> spellings = split_at(flag.spellings, '|');
      return option.name.substr(std::min<std::size_t>(2, option.name.size())) == flag.name ||
             std::find(spellings.begin(), spellings.end(), option.name) != spellings.end();
    });
    if (!option.name.starts_with("--") || is_known) {
      continue;
    }
    const std::string_view name = option.name.substr(2);
    const bool is_switch = name.starts_with("disable-") || name.starts_with("use-");
    rows.push_back(FlagSpec{
        .name = name,
        .kind = is_switch ? FlagKind::kSwitch : FlagKind::kText,
        .commands = kChoosing,
        .metavar = is_switch ? "" : "VALUE",
        .every_source = true,
        .is_hidden = true,
        .help = option.note,
        .assign = is_switch ? assign_switch : assign_text,
    });
  }
  return rows;
}

constexpr auto kFlags = std::to_array<FlagSpec>({
    {.name = "attention-backend",
     .commands = kChoosing,
     .metavar = "NAME",
     .every_source = true,
     .spellings = "--attn-backend",
     .help = "what computes attention: auto, a name that `rapt attention list` shows or another "
             "engine's, or slot=NAME,... with the slots prefill, decode, full, sliding, "
             "prefill.full, ...; without it: auto, the fastest that is right here",
     .assign = assign_text},
    {.name = "prefill-attention-backend",
     .commands = kChoosing,
     .metavar = "NAME",
     .every_source = true,
     .help = "the same for prompts only",
     .assign = assign_text},
    {.name = "decode-attention-backend",
     .commands = kChoosing,
     .metavar = "NAME",
     .every_source = true,
     .help = "the same for single tokens only",
     .assign = assign_text},
    {.name = "attention-backend-policy",
     .kind = FlagKind::kChoice,
     .commands = kChoosing,
     .metavar = "POLICY",
     .choices = "strict|prefer",
     .every_source = true,
     .help = "what a backend that cannot run here is: strict, an error; prefer, a warning. Without "
             "it: strict for flags and files, prefer for environment variables",
     .assign = assign_text},
    {.name = "attention-config",
     .kind = FlagKind::kMapping,
     .commands = kChoosing,
     .metavar = "JSON",
     .every_source = true,
     .spellings = "-ac",
     .help = "vLLM's spelling of the choice: {\"backend\": NAME, \"backend_per_kind\": {...}}, or "
             "a key at a time, --attention-config.backend NAME",
     .assign = assign_pairs},
    {.name = "flash-attn",
     .kind = FlagKind::kTriState,
     .commands = kChoosing,
     .metavar = "WHEN",
     .choices = "on|off|auto",
     .every_source = true,
     .spellings = "-fa",
     .help = "llama.cpp's spelling of the choice: on, the fast backend; off, the reference",
     .assign = assign_text},
    {.name = "block-size",
     .kind = FlagKind::kInt,
     .commands = kChoosing,
     .metavar = "N",
     .default_text = "auto",
     .range = {.low = kKeyGroup, .high = 4096, .multiple_of = kKeyGroup},
     .auto_word = "auto",
     .spellings = "--page-size",
     .help = "positions in a block of the KV cache; auto: what the chosen backends like best",
     .assign = [](FlagTargets& to, const FlagValue& value
               ) { to.load.engine.kv_block_size = static_cast<int>(value.whole); }},
});

}  // namespace

std::span<const FlagSpec> attention_flags() {
  static const std::vector<FlagSpec> flags = [] {
    std::vector<FlagSpec> all(kFlags.begin(), kFlags.end());
    const std::vector<FlagSpec> more = rows_of_options(kFlags);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return flags;
}

}  // namespace rapt
