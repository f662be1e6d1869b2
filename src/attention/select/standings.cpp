#include <algorithm>
#include <limits>

#include "attention/select/check_internal.h"
#include "attention/select/standings_internal.h"
#include "attention/select/text_internal.h"
#include "base/check.h"

namespace rapt {

namespace {

std::size_t at(AttentionSlot slot) {
  return static_cast<std::size_t>(index_of(slot));
}

SlotStanding stand(
    const BackendInfo& backend,
    AttentionSlot slot,
    const SelectRequest& request,
    const CostModel& cost
) {
  SlotStanding best;
  for (const KernelVariant& variant : backend.variants) {
    if (!variant.slots.contains(slot)) {
      continue;
    }
    SlotStanding standing;
    standing.variant = &variant;
    standing.is_built = backend.make != nullptr;
    standing.reasons = check_variant(backend, variant, slot, request);
    if (standing.is_valid()) {
      const CostBucket& typical =
          phase_of(slot) == AttentionPhase::kPrefill ? kPrefill8k : kDecode32x8k;
      standing.cost = cost.slot_cost(backend, variant, slot);
      standing.typical_us = cost.time_us(backend, variant, slot, typical);
    }
    const bool is_better = best.variant == nullptr ||
                           standing.reasons.size() < best.reasons.size() ||
                           (standing.is_valid() && best.is_valid() &&
                            (standing.cost < best.cost ||
                             (standing.cost == best.cost && variant.rank < best.variant->rank)));
    if (is_better) {
      best = std::move(standing);
    }
  }
  if (best.variant == nullptr) {
    best.reasons.push_back({ReasonCode::kNoKernel, std::string(name_of(slot)), "", "", ""});
  }
  return best;
}

int num_filled(const BackendStanding& standing, const AttentionModel& model) {
  int num_slots = 0;
  for (const AttentionSlot slot : kAttentionSlots) {
    num_slots += is_slot_used(model, slot) && standing.slots[at(slot)].is_valid() ? 1 : 0;
  }
  return num_slots;
}

// Whether the backend is for the device's kind at all.
bool is_of_device(const BackendStanding& standing) {
  const std::vector<Reason>& reasons = standing.slots.front().reasons;
  return reasons.empty() || reasons.front().code != ReasonCode::kDeviceKind;
}

double total_cost(const BackendStanding& standing, const AttentionModel& model) {
  double sum = 0.0;
  for (const AttentionSlot slot : kAttentionSlots) {
    sum += is_slot_used(model, slot) ? standing.slots[at(slot)].cost : 0.0;
  }
  return sum;
}

// The estimate of a phase, when the backend can run all its used slots.
std::optional<double> phase_time(
    const BackendStanding& standing, const AttentionModel& model, AttentionPhase phase
) {
  double sum = 0.0;
  for (const AttentionSlot slot : kAttentionSlots) {
    if (phase_of(slot) == phase && is_slot_used(model, slot)) {
      if (!standing.slots[at(slot)].is_valid()) {
        return std::nullopt;
      }
      sum += standing.slots[at(slot)].typical_us;
    }
  }
  return sum;
}

struct ClassChoice {
  SlotBackends backends = {};
  double cost = 0.0;
  bool is_complete = true;
};

// The cheapest of a class for each used slot; every class when `numerics_class` is empty.
ClassChoice choose_in_class(
    const std::vector<BackendStanding>& table,
    const AttentionModel& model,
    std::string_view numerics_class
) {
  ClassChoice choice;
  for (const AttentionSlot slot : kAttentionSlots) {
    if (!is_slot_used(model, slot)) {
      continue;
    }
    double best_cost = std::numeric_limits<double>::infinity();
    for (const BackendStanding& standing : table) {
      const SlotStanding& here = standing.slots[at(slot)];
      const bool is_candidate =
          here.is_valid() &&
          (numerics_class.empty() || standing.backend->numerics_class == numerics_class);
      const bool is_tie = here.cost == best_cost && choice.backends[at(slot)] != nullptr &&
                          standing.backend->rank < choice.backends[at(slot)]->rank;
      if (is_candidate && (here.cost < best_cost || is_tie)) {
        best_cost = here.cost;
        choice.backends[at(slot)] = standing.backend;
      }
    }
    choice.is_complete = choice.is_complete && choice.backends[at(slot)] != nullptr;
    choice.cost += choice.backends[at(slot)] != nullptr ? best_cost : 0.0;
  }
  return choice;
}

}  // namespace

bool is_slot_used(const AttentionModel& model, AttentionSlot slot) {
  return model.num_layers(layer_kind_of(slot)) > 0;
}

std::vector<BackendStanding> make_table(const SelectRequest& request, const CostModel& cost) {
  std::vector<BackendStanding> table;
  table.reserve(request.backends.size());
  for (const BackendInfo* backend : request.backends) {
    BackendStanding standing;
    standing.backend = backend;
    for (const AttentionSlot slot : kAttentionSlots) {
      standing.slots[at(slot)] = stand(*backend, slot, request, cost);
    }
    standing.prefill_8k_us = phase_time(standing, request.model, AttentionPhase::kPrefill);
    standing.decode_32x8k_us = phase_time(standing, request.model, AttentionPhase::kDecode);
    standing.is_estimate = !cost.is_measured(*backend);
    table.push_back(std::move(standing));
  }
  sort_table(table, request.model);
  return table;
}

void sort_table(std::vector<BackendStanding>& table, const AttentionModel& model) {
  std::stable_sort(
      table.begin(),
      table.end(),
      [&model](const BackendStanding& a, const BackendStanding& b) {
        if (is_of_device(a) != is_of_device(b)) {
          return is_of_device(a);
        }
        const int a_filled = num_filled(a, model);
        const int b_filled = num_filled(b, model);
        if (a_filled != b_filled) {
          return a_filled > b_filled;
        }
        const double a_cost = total_cost(a, model);
        const double b_cost = total_cost(b, model);
        return a_cost != b_cost ? a_cost < b_cost : a.backend->rank < b.backend->rank;
      }
  );
}

const SlotStanding& standing_of(
    const std::vector<BackendStanding>& table, const BackendInfo& backend, AttentionSlot slot
) {
  const auto row = std::find_if(table.begin(), table.end(), [&backend](const auto& standing) {
    return standing.backend == &backend;
  });
  CHECK(row != table.end(), "backend ", backend.name, " is not in the table");
  return row->slots[at(slot)];
}

SlotBackends choose_automatically(
    const std::vector<BackendStanding>& table, const AttentionModel& model
) {
  ClassChoice best;
  bool has_best = false;
  for (const BackendStanding& standing : table) {
    const ClassChoice choice = choose_in_class(table, model, standing.backend->numerics_class);
    if (choice.is_complete && (!has_best || choice.cost < best.cost)) {
      best = choice;
      has_best = true;
    }
  }
  return has_best ? best.backends : choose_in_class(table, model, {}).backends;
}

std::string works_here(
    const std::vector<BackendStanding>& table,
    const SlotBackends& automatic,
    const AttentionModel& model
) {
  int num_used = 0;
  for (const AttentionSlot slot : kAttentionSlots) {
    num_used += is_slot_used(model, slot) ? 1 : 0;
  }
  std::vector<std::string> names;
  for (const BackendStanding& standing : table) {
    if (num_filled(standing, model) == num_used) {
      const bool is_automatic =
          std::find(automatic.begin(), automatic.end(), standing.backend) != automatic.end();
      names.push_back(std::string(standing.backend->name) + (is_automatic ? " (auto choice)" : ""));
    }
  }
  return names.empty() ? backend_names(automatic, SlotSet::all()) + " (auto choice)"
                       : join(names, ", ");
}

std::string backend_names(const SlotBackends& backends, SlotSet slots) {
  std::vector<std::string> names;
  for (const AttentionSlot slot : kAttentionSlots) {
    const BackendInfo* backend = backends[at(slot)];
    if (slots.contains(slot) && backend != nullptr &&
        std::find(names.begin(), names.end(), backend->name) == names.end()) {
      names.emplace_back(backend->name);
    }
  }
  return join_and(names);
}

}  // namespace rapt
