#include "attention/select/docs_table.h"

#include <algorithm>

#include "attention/select/alias_internal.h"
#include "attention/select/check_internal.h"
#include "attention/select/settings.h"
#include "attention/select/text_internal.h"

namespace rapt {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? "\\|" : std::string(1, c);
  }
  return out;
}

std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) {
    text += " " + escaped(cell) + (cell.empty() ? "|" : " |");
  }
  return text + "\n";
}

std::string header(const std::vector<std::string>& cells) {
  std::string text = row(cells) + "|";
  for (std::size_t idx = 0; idx < cells.size(); ++idx) {
    text += "---|";
  }
  return text + "\n";
}

// What a backend's variants say, each distinct text once.
template <typename Say>
std::string over_variants(const BackendInfo& backend, Say say) {
  std::vector<std::string> texts;
  for (const KernelVariant& variant : backend.variants) {
    std::string text = say(variant);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return join(texts, "; ");
}

std::string yes_no(bool value) {
  return value ? "yes" : "no";
}

std::string device_text(const KernelVariant& variant, DeviceKind kind) {
  if (kind == DeviceKind::kCuda) {
    return capabilities_text(variant.compute_capabilities);
  }
  return variant.min_cpu_level == CpuLevel::kReference
             ? "any CPU"
             : "CPU level " + std::string(name_of(variant.min_cpu_level)) + " and up";
}

std::string kv_types_text(const KernelVariant& variant) {
  std::vector<std::string> names;
  for (const KVType type : variant.kv_types) {
    names.emplace_back(name_of(type));
  }
  return join(names, ", ");
}

std::string invariance_text(const KernelVariant& variant) {
  switch (variant.batch_invariance) {
    case BatchInvariance::kNever:
      return "no";
    case BatchInvariance::kInDeterministicMode:
      return "in deterministic mode";
    case BatchInvariance::kAlways:
      return "always";
  }
  return "?";
}

std::string slots_text(SlotSet slots) {
  if (slots == SlotSet::all()) {
    return "all";
  }
  std::vector<std::string> names;
  for (const AttentionSlot slot : kAttentionSlots) {
    if (slots.contains(slot)) {
      names.emplace_back(name_of(slot));
    }
  }
  return join(names, ", ");
}

std::string target_text(const AliasTarget& target) {
  switch (target.kind) {
    case AliasTarget::Kind::kFast:
      return "auto's choice";
    case AliasTarget::Kind::kBackend:
      return "`" + std::string(target.backend) + "`";
    case AliasTarget::Kind::kNone:
      return "none";
    case AliasTarget::Kind::kConflict:
      return "error";
  }
  return "?";
}

}  // namespace

std::string backends_markdown(std::span<const BackendInfo* const> backends) {
  std::string text = header(
      {"backend",
       "what it is",
       "runs on",
       "sinks",
       "window",
       "head dimension",
       "query heads a KV head",
       "KV cache",
       "block size",
       "graphs",
       "same bits in any batch"}
  );
  for (const BackendInfo* backend : backends) {
    std::string runs_on = over_variants(*backend, [backend](const KernelVariant& variant) {
      return device_text(variant, backend->device);
    });
    if (!backend->library.name.empty()) {
      runs_on += ", with " + std::string(backend->library.name) +
                 " >= " + std::string(backend->library.min_version);
    }
    text += row({
        "`" + std::string(backend->name) + "`",
        std::string(backend->description),
        runs_on,
        over_variants(*backend, [](const KernelVariant& v) { return yes_no(v.has_sinks); }),
        over_variants(*backend, [](const KernelVariant& v) { return yes_no(v.has_window); }),
        over_variants(*backend, [](const KernelVariant& v) { return size_rule_text(v.head_dims); }),
        over_variants(
            *backend, [](const KernelVariant& v) { return size_rule_text(v.gqa_ratios); }
        ),
        over_variants(*backend, kv_types_text),
        over_variants(
            *backend, [](const KernelVariant& v) { return size_rule_text(v.block_sizes); }
        ),
        backend->device == DeviceKind::kCpu
            ? "-"
            : over_variants(
                  *backend,
                  [](const KernelVariant& v) { return std::string(name_of(v.graph_level)); }
              ),
        over_variants(*backend, invariance_text),
    });
  }
  text += "\n" + header({"backend", "kernel", "fills", "how"});
  for (const BackendInfo* backend : backends) {
    for (const KernelVariant& variant : backend->variants) {
      text += row(
          {"`" + std::string(backend->name) + "`",
           std::string(variant.name),
           slots_text(variant.slots),
           std::string(variant.description)}
      );
    }
  }
  return text;
}

std::string aliases_markdown() {
  std::string text = header(
      {"name",
       "also",
       "whose",
       "what it is there",
       "class",
       "CPU",
       "SM 7.5-8.9, 11.0, 12.x",
       "SM 9.0",
       "SM 10.x"}
  );
  for (const AliasInfo* alias : all_aliases()) {
    std::vector<std::string> spellings;
    for (const std::string_view spelling : words_of(alias->spellings)) {
      spellings.push_back("`" + std::string(spelling) + "`");
    }
    text += row(
        {"`" + std::string(alias->name) + "`",
         join(spellings, ", "),
         std::string(alias->engines),
         std::string(alias->what),
         std::string(name_of(alias->alias_class)),
         target_text(alias->targets.cpu),
         target_text(alias->targets.gpu),
         target_text(alias->targets.sm90),
         target_text(alias->targets.sm100)}
    );
  }
  return text;
}

std::string options_markdown() {
  std::string text = header({"option or variable", "whose", "what it does here"});
  for (const AttentionOption& option : attention_options()) {
    const std::string note(option.note);
    text += row(
        {"`" + std::string(option.name) + "`",
         std::string(option.engine),
         option.kind == AttentionOptionKind::kExplained ? "no effect, and said: " + note : note}
    );
  }
  return text;
}

}  // namespace rapt
