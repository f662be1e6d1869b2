#include "attention/select/selector.h"

#include <algorithm>

#include "attention/select/check_internal.h"
#include "attention/select/resolve_internal.h"
#include "attention/select/text_internal.h"
#include "base/check.h"

namespace rapt {

namespace {

std::size_t at(AttentionSlot slot) {
  return static_cast<std::size_t>(index_of(slot));
}

struct ProbeFailure {
  const BackendInfo* backend = nullptr;
  AttentionSlot slot = AttentionSlot::kPrefillFull;
  ProbeReport report;
};

class Selection {
 public:
  explicit Selection(const SelectRequest& request) : request_(request), cost_(request) {}

  Result<AttentionPlan> run() {
    ASSIGN_OR_RETURN(choices_, parse_attention_settings(request_.settings));
    plan_.model = request_.model;
    plan_.device = request_.device;
    plan_.run = request_.run;
    plan_.table = make_table(request_, cost_);
    do {
      RETURN_IF_ERROR(choose());
    } while (!probe_chosen());
    sort_table(plan_.table, request_.model);
    plan_.messages = choices_.messages;
    plan_.messages.insert(plan_.messages.end(), messages_.begin(), messages_.end());
    tell_probe_failures();
    verify();
    return std::move(plan_);
  }

 private:
  Result<void> choose() {
    messages_.clear();
    const SlotBackends automatic = choose_automatically(plan_.table, request_.model);
    for (const AttentionSlot slot : kAttentionSlots) {
      if (is_slot_used(request_.model, slot) && automatic[at(slot)] == nullptr) {
        return nothing_runs(slot);
      }
    }
    SlotBackends chosen = automatic;
    std::array<const AliasInfo*, kNumAttentionSlots> aliases = {};
    SlotSet followed = SlotSet::all();
    for (const NameRequest& name : name_requests()) {
      ASSIGN_OR_RETURN(
          const NameOutcome outcome, resolve_name(name, request_, plan_.table, automatic)
      );
      messages_.insert(messages_.end(), outcome.messages.begin(), outcome.messages.end());
      for (const AttentionSlot slot : kAttentionSlots) {
        if (name.slots.contains(slot)) {
          chosen[at(slot)] = outcome.backends[at(slot)];
          aliases[at(slot)] = outcome.alias;
          followed = outcome.is_followed ? followed : followed.without(slot);
        }
      }
    }
    for (const AttentionSlot slot : kAttentionSlots) {
      SlotPlan& here = plan_.slots[at(slot)];
      here = {};
      here.slot = slot;
      here.is_used = is_slot_used(request_.model, slot);
      if (followed.contains(slot)) {
        here.choice = choices_.slots[at(slot)];
        here.alias = aliases[at(slot)] != nullptr ? std::string(aliases[at(slot)]->name) : "";
      }
      if (here.is_used) {
        here.backend = chosen[at(slot)];
        here.variant = standing_of(plan_.table, *here.backend, slot).variant;
        here.rules = find_rules(here);
      }
    }
    return {};
  }

  // The distinct settings, each with its used slots, in the order of slots.
  std::vector<NameRequest> name_requests() {
    std::vector<NameRequest> names;
    for (const AttentionSlot slot : kAttentionSlots) {
      const SlotChoice& choice = choices_.slots[at(slot)];
      if (choice.is_auto() || !is_slot_used(request_.model, slot)) {
        continue;
      }
      const auto same = std::find_if(names.begin(), names.end(), [&choice](const auto& name) {
        return name.choice.text == choice.text;
      });
      if (same == names.end()) {
        names.push_back({choice, slot});
      } else {
        same->slots = same->slots | slot;
      }
    }
    tell_unused_names(names);
    return names;
  }

  // A name for layers that the model does not have is said, not dropped.
  void tell_unused_names(const std::vector<NameRequest>& names) {
    std::vector<std::string> told;
    for (const SlotChoice& choice : choices_.slots) {
      const bool is_known =
          choice.is_auto() ||
          std::any_of(
              names.begin(),
              names.end(),
              [&choice](const NameRequest& name) { return name.choice.text == choice.text; }
          ) ||
          std::find(told.begin(), told.end(), choice.text) != told.end();
      if (!is_known) {
        told.push_back(choice.text);
        messages_.push_back(
            {MessageLevel::kWarning,
             choice.text + " has no effect: " + request_.model.name + " has no such layer."}
        );
      }
    }
  }

  Error nothing_runs(AttentionSlot slot) const {
    const BackendStanding* nearest = nullptr;
    for (const BackendStanding& standing : plan_.table) {
      const auto num_reasons = [slot](const BackendStanding& one) {
        return one.slots[at(slot)].reasons.size();
      };
      if (standing.backend->device == request_.device.kind &&
          (nearest == nullptr || num_reasons(standing) < num_reasons(*nearest))) {
        nearest = &standing;
      }
    }
    std::string text = "no attention backend can run " + request_.model.name + " on " +
                       full_name_of(request_.device) + " (" + std::string(name_of(slot)) + ")";
    if (nearest == nullptr) {
      return invalid_argument(text + ": this binary has none for this kind of device");
    }
    std::vector<std::string> reasons;
    std::string hint;
    for (const Reason& reason : nearest->slots[at(slot)].reasons) {
      reasons.push_back(reason.text());
      hint = hint.empty() ? reason.hint : hint;
    }
    text += ". Nearest is " + std::string(nearest->backend->name) + ": " + join_and(reasons);
    return invalid_argument(text + (hint.empty() ? "" : ". Try " + hint));
  }

  // A decode kernel that is better from some batch size on. On a GPU the switch changes bits, so a
  // deterministic run keeps to one.
  std::vector<BucketRule> find_rules(const SlotPlan& here) const {
    const bool is_frozen =
        here.backend->device == DeviceKind::kCuda && request_.run.is_deterministic;
    if (is_frozen || phase_of(here.slot) != AttentionPhase::kDecode) {
      return {};
    }
    constexpr double kWorthIt = 0.98;
    BucketRule rule;
    for (const KernelVariant& other : here.backend->variants) {
      const bool is_candidate = &other != here.variant && other.slots.contains(here.slot) &&
                                check_variant(*here.backend, other, here.slot, request_).empty();
      for (int num_sequences = 256; is_candidate && num_sequences >= 2; num_sequences /= 2) {
        const double other_cost = cost_.batch_cost(*here.backend, other, here.slot, num_sequences);
        const double own_cost =
            cost_.batch_cost(*here.backend, *here.variant, here.slot, num_sequences);
        if (other_cost > kWorthIt * own_cost) {
          break;
        }
        rule = {&other, num_sequences};
      }
    }
    return rule.variant != nullptr ? std::vector<BucketRule>{rule} : std::vector<BucketRule>{};
  }

  // Checks what was chosen and not checked yet. False: something failed, choose again.
  bool probe_chosen() {
    if (!request_.probe || request_.device.is_simulated) {
      return true;
    }
    bool all_passed = true;
    for (const SlotPlan& here : plan_.slots) {
      if (!here.is_used || here.backend->make == nullptr) {
        continue;
      }
      for (BackendStanding& row : plan_.table) {
        SlotStanding& standing = row.slots[at(here.slot)];
        if (row.backend != here.backend || standing.probe.has_value()) {
          continue;
        }
        standing.probe = request_.probe(*here.backend, *here.variant, here.slot);
        for (const BucketRule& rule : here.rules) {
          const ProbeReport report = request_.probe(*here.backend, *rule.variant, here.slot);
          if (!report.passed()) {
            standing.probe = report;
          }
        }
        if (!standing.probe->passed()) {
          disable(row, here.slot, *standing.probe);
          all_passed = false;
        }
      }
    }
    return all_passed;
  }

  void disable(BackendStanding& row, AttentionSlot slot, const ProbeReport& report) {
    failures_.push_back({row.backend, slot, report});
    row.slots[at(slot)].reasons.push_back(
        {ReasonCode::kProbeFailed,
         std::string(name_of(slot)),
         decimal(report.limit, 4),
         report.worst_case + ": max error " + decimal(report.max_error, 4),
         "report it"}
    );
    row.slots[at(slot)].cost = 0.0;
    row.slots[at(slot)].typical_us = 0.0;
    (phase_of(slot) == AttentionPhase::kPrefill ? row.prefill_8k_us : row.decode_32x8k_us).reset();
  }

  void tell_probe_failures() {
    const DeviceFacts& device = request_.device;
    const std::string place = device.kind == DeviceKind::kCpu ? "this " + full_name_of(device)
                              : device.driver.empty()         ? full_name_of(device)
                                                              : "driver " + device.driver;
    for (const ProbeFailure& failure : failures_) {
      const SlotPlan& here = plan_.at(failure.slot);
      plan_.messages.push_back(
          {MessageLevel::kWarning,
           std::string(failure.backend->name) + " failed its start-up check (" +
               std::string(name_of(phase_of(failure.slot))) + ", " + failure.report.worst_case +
               ": max error " + decimal(failure.report.max_error, 4) + ", limit " +
               decimal(failure.report.limit, 4) + ") on " + place + ". It is disabled; using " +
               std::string(here.backend->name) + ". Please report."}
      );
    }
  }

  // What follows from the four slots together.
  void verify() {
    plan_.graph_level = GraphLevel::kAlways;
    const SlotPlan* weakest = nullptr;
    for (const SlotPlan& here : plan_.slots) {
      if (!here.is_used) {
        continue;
      }
      if (here.variant->graph_level < plan_.graph_level) {
        plan_.graph_level = here.variant->graph_level;
        weakest = &here;
      }
      plan_.workspace_bytes_per_row =
          std::max(plan_.workspace_bytes_per_row, here.variant->workspace_bytes_per_row);
      const std::string own_class(here.backend->numerics_class);
      plan_.numerics_class =
          plan_.numerics_class.empty() || plan_.numerics_class == own_class ? own_class : "mixed";
    }
    choose_block_size();
    if (request_.device.kind == DeviceKind::kCuda && weakest != nullptr) {
      plan_.messages.push_back(
          {MessageLevel::kInfo,
           "graphs: " + std::string(name_of(plan_.graph_level)) + " only, because of " +
               std::string(weakest->backend->name) + " in " + std::string(name_of(weakest->slot)) +
               "."}
      );
    }
    if (plan_.numerics_class == "mixed") {
      SlotBackends backends = {};
      for (const SlotPlan& here : plan_.slots) {
        backends[at(here.slot)] = here.backend;
      }
      plan_.messages.push_back(
          {MessageLevel::kWarning,
           "The plan mixes " + backend_names(backends, SlotSet::all()) +
               ", whose results differ in the last bits: a request's tokens may now depend on how"
               " its prompt is cut and on its neighbours. One backend for all slots keeps the"
               " promise of equal bits."}
      );
    }
    if (request_.calibration != nullptr && !cost_.uses_calibration() &&
        !request_.device.is_simulated) {
      plan_.messages.push_back(
          {MessageLevel::kInfo,
           "The calibration was made on another device (" + request_.calibration->device + ", " +
               request_.calibration->level + ", " +
               std::to_string(request_.calibration->num_workers) +
               " workers), so estimates are used; `rapt attention bench` measures this one."}
      );
    }
  }

  // The first wish of a used slot that all others allow.
  void choose_block_size() {
    plan_.block_size = request_.run.block_size;
    for (const SlotPlan& here : plan_.slots) {
      const int wish = here.is_used ? here.variant->best_block_size : 0;
      const bool suits_all =
          wish > 0 &&
          std::all_of(plan_.slots.begin(), plan_.slots.end(), [wish](const SlotPlan& other) {
            return !other.is_used || other.variant->block_sizes.allows(wish);
          });
      if (plan_.block_size == 0 && suits_all) {
        plan_.block_size = wish;
      }
    }
  }

  const SelectRequest& request_;
  CostModel cost_;
  AttentionChoices choices_;
  AttentionPlan plan_;
  std::vector<AttentionMessage> messages_;  // of the last choice
  std::vector<ProbeFailure> failures_;
};

}  // namespace

Result<AttentionPlan> select_attention(const SelectRequest& request) {
  return Selection(request).run();
}

const BackendInfo* AttentionPlan::only_backend() const {
  const BackendInfo* only = nullptr;
  for (const SlotPlan& here : slots) {
    if (here.is_used && only != nullptr && here.backend != only) {
      return nullptr;
    }
    only = here.is_used ? here.backend : only;
  }
  return only;
}

}  // namespace rapt
