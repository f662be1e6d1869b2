#include <algorithm>

#include "attention/select/check_internal.h"
#include "attention/select/plan.h"
#include "attention/select/text_internal.h"

namespace rapt {

namespace {

std::size_t at(AttentionSlot slot) {
  return static_cast<std::size_t>(index_of(slot));
}

// "cpu-flash[avx512]": the build of CPU kernels is part of what runs.
std::string shown_name(const BackendInfo& backend, const DeviceFacts& device) {
  std::string name(backend.name);
  if (backend.device == DeviceKind::kCpu) {
    name += "[" + std::string(name_of(device.cpu_level)) + "]";
  }
  return name;
}

std::string origin_text(const SlotChoice& choice) {
  if (choice.is_auto()) {
    return "auto";
  }
  return choice.origin == SettingOrigin::kVllmEnvironment ? "environment"
                                                          : std::string(name_of(choice.origin));
}

std::string variant_text(const SlotPlan& here, const AttentionPlan& plan) {
  std::string text(here.variant->name);
  for (const BucketRule& rule : here.rules) {
    text += ", " + std::string(rule.variant->name) + " from " + std::to_string(rule.min_sequences) +
            " sequences on";
  }
  if (plan.only_backend() == nullptr) {
    text = std::string(here.backend->name) + " " + text;
  }
  return text;
}

// "full: prefill tiled, decode split-kv"
std::string kind_text(const AttentionPlan& plan, AttentionLayerKind kind) {
  const SlotPlan& prefill = plan.at(make_slot(AttentionPhase::kPrefill, kind));
  const SlotPlan& decode = plan.at(make_slot(AttentionPhase::kDecode, kind));
  if (!prefill.is_used) {
    return {};
  }
  std::string name(name_of(kind));
  if (kind == AttentionLayerKind::kSliding) {
    name += " " + std::to_string(plan.model.window);
  }
  const std::string prefill_text = variant_text(prefill, plan);
  const std::string decode_text = variant_text(decode, plan);
  return " | " + name + ": " +
         (prefill_text == decode_text ? prefill_text
                                      : "prefill " + prefill_text + ", decode " + decode_text);
}

// The backends and who asked for each: "cpu-flash[avx512] (auto)".
std::string backends_text(const AttentionPlan& plan) {
  std::vector<std::string> parts;
  for (const SlotPlan& here : plan.slots) {
    if (!here.is_used) {
      continue;
    }
    std::string part =
        shown_name(*here.backend, plan.device) + " (" + origin_text(here.choice) + ")";
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
      parts.push_back(std::move(part));
    }
  }
  return join(parts, ", ");
}

// The best backend behind the chosen ones that fills every used slot, in the table's order.
const BackendStanding* find_runner_up(const AttentionPlan& plan) {
  for (const BackendStanding& standing : plan.table) {
    bool is_whole = true;
    bool is_chosen = false;
    for (const SlotPlan& here : plan.slots) {
      is_whole = is_whole && (!here.is_used || standing.slots[at(here.slot)].is_valid());
      is_chosen = is_chosen || here.backend == standing.backend;
    }
    if (is_whole && !is_chosen) {
      return &standing;
    }
  }
  return nullptr;
}

std::string against_plan(
    const AttentionPlan& plan, const BackendStanding& other, AttentionPhase phase
) {
  double plan_us = 0.0;
  double other_us = 0.0;
  for (const SlotPlan& here : plan.slots) {
    if (!here.is_used || phase_of(here.slot) != phase) {
      continue;
    }
    other_us += other.slots[at(here.slot)].typical_us;
    for (const BackendStanding& standing : plan.table) {
      plan_us += standing.backend == here.backend ? standing.slots[at(here.slot)].typical_us : 0.0;
    }
  }
  const std::string name(name_of(phase));
  if (plan_us <= 0) {
    return name;
  }
  const double factor = other_us / plan_us;
  return factor >= 1.0 ? factor_text(factor) + " slower " + name
                       : factor_text(1.0 / factor) + " faster " + name;
}

bool is_measured(const AttentionPlan& plan, const BackendStanding& other) {
  bool measured = !other.is_estimate;
  for (const BackendStanding& standing : plan.table) {
    for (const SlotPlan& here : plan.slots) {
      measured = measured && (here.backend != standing.backend || !standing.is_estimate);
    }
  }
  return measured;
}

std::string gigabytes(double value) {
  return decimal(value, value < 10 ? 1 : 0) + " GB";
}

std::string device_line(const DeviceFacts& device) {
  std::string text = "device " + device.name;
  text += device.kind == DeviceKind::kCpu ? ", " + std::string(name_of(device.cpu_level)) + ", " +
                                                std::to_string(device.num_workers) + " threads"
                                          : ", " + sm_name(device.compute_capability);
  if (device.memory_gb > 0) {
    text += ", " + gigabytes(device.memory_gb);
  }
  text += ", " + decimal(device.bandwidth_gbs, device.bandwidth_gbs < 100 ? 1 : 0) + " GB/s";
  if (device.kind == DeviceKind::kCpu && !device.is_measured) {
    text += " (assumed)";
  }
  return text + (device.is_simulated ? ", simulated" : "");
}

// "ok / ok", "ok / -", "-": prefill or decode of the used layer kinds.
std::string phase_cell(
    const AttentionPlan& plan, const BackendStanding& standing, AttentionPhase phase
) {
  std::vector<std::string> marks;
  bool any = false;
  for (const SlotPlan& here : plan.slots) {
    if (here.is_used && phase_of(here.slot) == phase) {
      const bool is_valid = standing.slots[at(here.slot)].is_valid();
      marks.emplace_back(is_valid ? "ok" : "-");
      any = any || is_valid;
    }
  }
  return any ? join(marks, " / ") : "-";
}

std::string estimate_cell(const std::optional<double>& us) {
  return us.has_value() ? duration_text(*us) : "";
}

std::string probe_text(const BackendStanding& standing) {
  int num_cases = 0;
  int num_passed = 0;
  for (const SlotStanding& slot : standing.slots) {
    num_cases += slot.probe.has_value() ? slot.probe->num_cases : 0;
    num_passed += slot.probe.has_value() ? slot.probe->num_passed : 0;
  }
  return num_cases == 0 ? ""
                        : "probed " + std::to_string(num_passed) + "/" + std::to_string(num_cases);
}

// What keeps a backend from the plan: one clause a cause, missing kernels last and together.
std::vector<std::string> obstacles(const AttentionPlan& plan, const BackendStanding& standing) {
  if (standing.backend->device != plan.device.kind) {
    return {
        plan.device.kind == DeviceKind::kCpu ? "device is a CPU"
                                             : "device is a GPU; use --device cpu"};
  }
  std::vector<std::string> texts;
  std::vector<std::string> missing;
  for (const SlotPlan& here : plan.slots) {
    const SlotStanding& slot = standing.slots[at(here.slot)];
    if (!here.is_used || slot.is_valid()) {
      continue;
    }
    if (slot.variant == nullptr) {
      const std::string phase(name_of(phase_of(here.slot)));
      missing.push_back(phase);
    } else {
      texts.push_back(slot.reasons.front().text());
    }
  }
  const auto keep_first = [](std::vector<std::string>& parts) {
    std::vector<std::string> kept;
    for (std::string& part : parts) {
      if (std::find(kept.begin(), kept.end(), part) == kept.end()) {
        kept.push_back(std::move(part));
      }
    }
    parts = std::move(kept);
  };
  keep_first(texts);
  keep_first(missing);
  if (!missing.empty()) {
    texts.push_back("no " + join_and(missing) + " kernel");
  }
  return texts;
}

// Why a backend is chosen, or not.
std::string why_text(const AttentionPlan& plan, const BackendStanding& standing) {
  std::vector<std::string> parts = obstacles(plan, standing);
  const bool is_chosen =
      std::any_of(plan.slots.begin(), plan.slots.end(), [&standing](const SlotPlan& here) {
        return here.backend == standing.backend;
      });
  if (is_chosen) {
    parts.insert(parts.begin(), "<- chosen");
  } else if (parts.empty()) {
    parts.push_back(
        "valid, " + against_plan(plan, standing, AttentionPhase::kPrefill) + ", " +
        against_plan(plan, standing, AttentionPhase::kDecode)
    );
  }
  if (const std::string probe = probe_text(standing); !probe.empty()) {
    parts.push_back(probe);
  }
  const bool is_unbuilt =
      standing.backend->make == nullptr && standing.backend->device == plan.device.kind;
  if (is_unbuilt && parts.front() != "not built into this binary") {
    parts.emplace_back("not built");
  }
  return join(parts, "; ");
}

void append_columns(std::string& text, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      line += " " + row[column] + std::string(widths[column] - row[column].size() + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
}

}  // namespace

std::string startup_line(const AttentionPlan& plan) {
  std::string text = "attention: " + backends_text(plan);
  text += kind_text(plan, AttentionLayerKind::kFull);
  text += kind_text(plan, AttentionLayerKind::kSliding);
  text += " | KV " + std::string(name_of(plan.run.kv_type));
  if (kv_type_of(plan.run, AttentionSlot::kDecodeSliding) != plan.run.kv_type) {
    text += " (full layers only)";
  }
  if (plan.block_size > 0) {
    text += " HND block " + std::to_string(plan.block_size);
  }
  if (plan.device.kind == DeviceKind::kCuda) {
    text += " | graphs: " + std::string(name_of(plan.graph_level));
  }
  if (plan.numerics_class == "mixed") {
    text += " | mixed: equal bits are not promised";
  }
  return text;
}

std::string runner_up_line(const AttentionPlan& plan) {
  const BackendStanding* other = find_runner_up(plan);
  if (other == nullptr) {
    return {};
  }
  return "next best " + std::string(other->backend->name) + ", " +
         (is_measured(plan, *other) ? "measured " : "estimated ") +
         against_plan(plan, *other, AttentionPhase::kPrefill) + ", " +
         against_plan(plan, *other, AttentionPhase::kDecode) + "; details: `rapt attention list`";
}

std::string plan_text(const AttentionPlan& plan) {
  std::string text = "model " + plan.model.name + ": " + describe(plan.model) + "\n" +
                     device_line(plan.device) + "\n\n";
  const bool slides = plan.model.num_sliding_layers > 0;
  const bool is_full = plan.model.num_full_layers > 0;
  const std::string kinds = slides && is_full ? " full/slid" : slides ? " slid" : "";
  bool is_estimate = false;
  std::vector<std::vector<std::string>> rows = {
      {"backend",
       "prefill" + kinds,
       "decode" + kinds,
       "8k prefill",
       "decode b32x8k",
       "why / why not"}};
  for (const BackendStanding& standing : plan.table) {
    is_estimate = is_estimate || (standing.is_estimate && standing.prefill_8k_us.has_value());
    rows.push_back(
        {std::string(standing.backend->name),
         phase_cell(plan, standing, AttentionPhase::kPrefill),
         phase_cell(plan, standing, AttentionPhase::kDecode),
         estimate_cell(standing.prefill_8k_us),
         estimate_cell(standing.decode_32x8k_us),
         why_text(plan, standing)}
    );
  }
  if (is_estimate) {
    rows.front()[3] = "est. " + rows.front()[3];
    rows.front()[4] = "est. " + rows.front()[4];
  }
  append_columns(text, rows);
  text += "\n" + startup_line(plan) + "\n";
  if (const std::string next = runner_up_line(plan); !next.empty()) {
    text += std::string(11, ' ') + next + "\n";
  }
  for (const AttentionMessage& message : plan.messages) {
    text += std::string(name_of(message.level)) + ": " + message.text + "\n";
  }
  return text;
}

}  // namespace rapt
