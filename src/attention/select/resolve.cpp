#include <algorithm>

#include "attention/select/resolve_internal.h"
#include "attention/select/text_internal.h"
#include "base/nearest_name.h"

namespace rapt {

namespace {

// Differences below this are within the cost model's error.
constexpr double kNoticeableFactor = 1.05;

std::size_t at(AttentionSlot slot) {
  return static_cast<std::size_t>(index_of(slot));
}

std::string removal_text(SettingOrigin origin) {
  switch (origin) {
    case SettingOrigin::kConfigFile:
      return "You can remove the line";
    case SettingOrigin::kVllmEnvironment:
    case SettingOrigin::kEnvironment:
      return "You can remove the variable";
    default:
      return "You can drop the flag";
  }
}

bool has_old_suffix(std::string_view name) {
  return lower_case(trim_blanks(name)).ends_with("_vllm_v1");
}

class Resolver {
 public:
  Resolver(
      const NameRequest& name,
      const SelectRequest& request,
      const std::vector<BackendStanding>& table,
      const SlotBackends& automatic
  )
      : name_(name), request_(request), table_(table), automatic_(automatic) {}

  Result<NameOutcome> run() {
    const std::string normalized = normalized_backend_name(name_.choice.name);
    std::string own_name = normalized;
    std::replace(own_name.begin(), own_name.end(), '_', '-');
    if (const BackendInfo* own = find_attention_backend(own_name, request_.backends)) {
      return use_backend(*own);
    }
    outcome_.alias = find_alias(normalized);
    if (outcome_.alias == nullptr) {
      return fail(unknown_name_text(trim_blanks(name_.choice.name), request_.backends) + ".");
    }
    const AliasTarget& target = target_on(*outcome_.alias, request_.device);
    switch (target.kind) {
      case AliasTarget::Kind::kNone:
        return fail(name_.choice.text + ": " + why_no_counterpart());
      case AliasTarget::Kind::kConflict:
        return fail_on_gpu();
      case AliasTarget::Kind::kFast:
        take_automatic(name_.slots);
        tell_alias();
        return std::move(outcome_);
      case AliasTarget::Kind::kBackend:
        break;
    }
    const BackendInfo* backend = find_attention_backend(target.backend, request_.backends);
    if (backend == nullptr) {  // a registry of a test, without it
      return fail(name_.choice.text + ": " + why_no_counterpart());
    }
    return use_backend(*backend);
  }

 private:
  // A name for all slots is used where the backend has kernels; it fails when it has none that
  // runs, or when one that it has cannot.
  Result<NameOutcome> use_backend(const BackendInfo& backend) {
    SlotSet usable;
    SlotSet broken;
    const Reason* first_reason = nullptr;
    for (const AttentionSlot slot : kAttentionSlots) {
      if (!name_.slots.contains(slot)) {
        continue;
      }
      const SlotStanding& standing = standing_of(table_, backend, slot);
      if (standing.is_valid()) {
        usable = usable | slot;
        outcome_.backends[at(slot)] = &backend;
      } else if (standing.variant != nullptr || first_reason == nullptr) {
        broken = standing.variant != nullptr ? broken | slot : broken;
        first_reason = &standing.reasons.front();
      }
    }
    if (backend.device == DeviceKind::kCpu && request_.device.kind == DeviceKind::kCuda) {
      return fail_on_gpu();
    }
    const bool fails = usable.is_empty() || !broken.is_empty();
    if (!fails) {
      take_automatic(name_.slots);
      outcome_.alias != nullptr ? tell_alias() : tell_own_name();
      if (usable.size() < name_.slots.size()) {
        tell_partial(backend);
      }
      return std::move(outcome_);
    }
    const bool takes_substitute =
        outcome_.alias != nullptr && outcome_.alias->alias_class != AliasClass::kExact;
    if (takes_substitute) {
      outcome_.backends = {};
      take_automatic(name_.slots);
      tell_substitute(backend, *first_reason);
      return std::move(outcome_);
    }
    outcome_.backends = {};
    return fail(
        name_.choice.text + " cannot run " + request_.model.name + " on " +
            full_name_of(request_.device) + ": " +
            (outcome_.alias != nullptr ? "here it means " + std::string(backend.name) + ", which "
                                       : "") +
            first_reason->need_text() + "." +
            (first_reason->hint.empty() ? "" : " Try " + first_reason->hint + "."),
        " Drop the flag to use auto."
    );
  }

  void take_automatic(SlotSet slots) {
    for (const AttentionSlot slot : kAttentionSlots) {
      if (slots.contains(slot) && outcome_.backends[at(slot)] == nullptr) {
        outcome_.backends[at(slot)] = automatic_[at(slot)];
      }
    }
  }

  // `head` says what is wrong. Strict: an error with what works. Else a warning, and auto.
  Result<NameOutcome> fail(const std::string& head, std::string_view strict_tail = {}) {
    if (name_.choice.is_strict) {
      return invalid_argument(
          head + " Works here: " + works_here(table_, automatic_, request_.model) + "." +
          std::string(name_.choice.origin == SettingOrigin::kCommandLine ? strict_tail : "")
      );
    }
    take_automatic(name_.slots);
    outcome_.is_followed = false;
    std::string text = head;
    if (!head.starts_with(name_.choice.text)) {
      text = name_.choice.text + ": " + head;
    }
    warn(
        text + " Going on with " + used_names() + ", which auto chooses. " +
        removal_text(name_.choice.origin) + "."
    );
    return std::move(outcome_);
  }

  Result<NameOutcome> fail_on_gpu() {
    return fail(
        std::string(trim_blanks(name_.choice.name)) + " runs on CPU but --device is " +
        request_.device.id + ". Use --device cpu, or drop the name."
    );
  }

  std::string why_no_counterpart() const {
    const AliasInfo& alias = *outcome_.alias;
    const std::string what(alias.what);
    const std::string& family = request_.model.family;
    switch (alias.alias_class) {
      case AliasClass::kMlaOnly:
        return what + "; " + family + " uses grouped-query attention.";
      case AliasClass::kOtherModel:
        return what + "; " + family + " is not one of those.";
      case AliasClass::kNotSelectable:
        return what + ".";
      case AliasClass::kOtherOption:
        return what + ". " + std::string(alias.note) + ".";
      default:
        return what + "; this is " + full_name_of(request_.device) + ".";
    }
  }

  std::string used_names() const { return backend_names(outcome_.backends, name_.slots); }

  std::string runs_text() const {
    return "which runs " + request_.model.family + " on " + short_name_of(request_.device);
  }

  // "auto would choose the same" or what it would choose and what that would bring.
  std::string comparison() const {
    const std::string gains = automatic_gains();
    if (is_automatic()) {
      return "auto would choose the same";
    }
    return "auto would choose " + backend_names(automatic_, name_.slots) +
           (gains.empty() ? " (about as fast here)" : " (" + gains + " here)");
  }

  bool is_automatic() const {
    for (const AttentionSlot slot : kAttentionSlots) {
      if (name_.slots.contains(slot) && outcome_.backends[at(slot)] != automatic_[at(slot)]) {
        return false;
      }
    }
    return true;
  }

  // "prefill about 1.6x faster, decode about 1.1x faster"; "" when nothing is worth a word.
  std::string automatic_gains() const {
    std::vector<std::string> gains;
    for (const AttentionPhase phase : {AttentionPhase::kPrefill, AttentionPhase::kDecode}) {
      double chosen_us = 0.0;
      double automatic_us = 0.0;
      for (const AttentionSlot slot : kAttentionSlots) {
        if (phase_of(slot) == phase && name_.slots.contains(slot) &&
            outcome_.backends[at(slot)] != nullptr && automatic_[at(slot)] != nullptr) {
          chosen_us += standing_of(table_, *outcome_.backends[at(slot)], slot).typical_us;
          automatic_us += standing_of(table_, *automatic_[at(slot)], slot).typical_us;
        }
      }
      if (automatic_us > 0 && chosen_us / automatic_us >= kNoticeableFactor) {
        gains.push_back(
            std::string(name_of(phase)) + " about " + factor_text(chosen_us / automatic_us) +
            " faster"
        );
      }
    }
    return join(gains, ", ");
  }

  std::string what_it_is() const {
    const AliasInfo& alias = *outcome_.alias;
    if (has_old_suffix(name_.choice.name)) {
      return "old vLLM name (" + std::string(alias.name) + " since 0.11.0)";
    }
    return std::string(alias.what);
  }

  std::string note_text() const {
    const AliasInfo& alias = *outcome_.alias;
    return alias.note.empty() ? "" : " " + std::string(alias.note) + ".";
  }

  // The device's own name for the job, so that a CPU's user sees what the name is on GPUs.
  std::string meaning() const {
    const bool is_cpu = request_.device.kind == DeviceKind::kCpu;
    const AliasInfo& alias = *outcome_.alias;
    const bool is_of_gpus = is_cpu && alias.targets.gpu.kind == AliasTarget::Kind::kBackend &&
                            alias.alias_class != AliasClass::kTriState;
    if (is_of_gpus) {
      const AliasTarget& hopper = alias.targets.sm90;
      std::string names(alias.targets.gpu.backend);
      if (hopper.kind == AliasTarget::Kind::kBackend && hopper.backend != names) {
        names += " or " + std::string(hopper.backend);
      }
      return "On GPUs it means " + names + "; here " + used_names() + " does its job and runs " +
             request_.model.family + " on CPU.";
    }
    return "Here it means " + used_names() + ", " + runs_text() + ".";
  }

  void tell_alias() {
    const AliasInfo& alias = *outcome_.alias;
    const std::string advice = " " + removal_text(name_.choice.origin) + ": " + comparison() + ".";
    if (alias.alias_class == AliasClass::kRemoved && !has_old_suffix(name_.choice.name)) {
      const bool prefers = !name_.choice.is_strict;
      inform(
          name_.choice.text + ": " + std::string(alias.what) + ". Using " + used_names() +
          " instead" + (prefers ? " (policy prefer)." : ".") + advice
      );
      return;
    }
    inform(name_.choice.text + ": " + what_it_is() + ". " + meaning() + note_text() + advice);
  }

  void tell_substitute(const BackendInfo& backend, const Reason& reason) {
    inform(
        name_.choice.text + ": " + what_it_is() + ". Here it would mean " +
        std::string(backend.name) + ", which " + reason.need_text() + "; using " + used_names() +
        ", " + runs_text() + "." + note_text() + " " + removal_text(name_.choice.origin) +
        ": auto would choose the same."
    );
  }

  void tell_own_name() {
    if (!is_automatic() && !automatic_gains().empty()) {
      warn(name_.choice.text + ": valid, but " + comparison() + ".");
    }
  }

  void tell_partial(const BackendInfo& backend) {
    std::vector<std::string> names;
    for (const AttentionSlot slot : kAttentionSlots) {
      if (name_.slots.contains(slot) && outcome_.backends[at(slot)] != &backend) {
        names.emplace_back(name_of(slot));
      }
    }
    inform(
        std::string(backend.name) + " has no kernel for " + join_and(names) +
        "; auto chooses there."
    );
  }

  void inform(std::string text) {
    outcome_.messages.push_back({MessageLevel::kInfo, std::move(text)});
  }

  void warn(std::string text) {
    outcome_.messages.push_back({MessageLevel::kWarning, std::move(text)});
  }

  const NameRequest& name_;
  const SelectRequest& request_;
  const std::vector<BackendStanding>& table_;
  const SlotBackends& automatic_;
  NameOutcome outcome_;
};

}  // namespace

Result<NameOutcome> resolve_name(
    const NameRequest& name,
    const SelectRequest& request,
    const std::vector<BackendStanding>& table,
    const SlotBackends& automatic
) {
  return Resolver(name, request, table, automatic).run();
}

std::string unknown_name_text(std::string_view name, std::span<const BackendInfo* const> backends) {
  constexpr std::size_t kMaxDistance = 2;
  const std::string wanted = normalized_backend_name(name);
  std::string_view nearest;
  std::size_t best_distance = kMaxDistance + 1;
  const auto consider = [&](std::string_view candidate, std::string_view shown) {
    const std::string known_name = normalized_backend_name(candidate);
    const std::size_t distance = edit_distance(wanted, known_name);
    // Of a short name, two letters may be all.
    if (distance < best_distance && 2 * distance < std::max(wanted.size(), known_name.size())) {
      best_distance = distance;
      nearest = shown;
    }
  };
  std::vector<std::string> known = {"auto"};
  for (const BackendInfo* backend : backends) {
    consider(backend->name, backend->name);
    known.emplace_back(backend->name);
  }
  for (const AliasInfo* alias : all_aliases()) {
    consider(alias->name, alias->name);
    for (const std::string_view spelling : words_of(alias->spellings)) {
      consider(spelling, spelling);
    }
  }
  const std::string suggestion =
      nearest.empty() ? "" : " Did you mean " + std::string(nearest) + "?";
  return "unknown attention backend '" + std::string(name) + "'." + suggestion +
         " Known: " + join(known, ", ") + ", and the names of vLLM, SGLang and others";
}

}  // namespace rapt
