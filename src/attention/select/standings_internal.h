#pragma once

#include <array>
#include <string>
#include <vector>

#include "attention/select/cost_internal.h"
#include "attention/select/selector.h"

namespace rapt {

// A backend for each slot; null where the model has no such layers or nothing can run.
using SlotBackends = std::array<const BackendInfo*, kNumAttentionSlots>;

// Every backend held against the request: its best variant for each slot, and why not. Sorted, best
// first.
std::vector<BackendStanding> make_table(const SelectRequest& request, const CostModel& cost);

// Sorts by: fills more of the used slots, costs less, static rank.
void sort_table(std::vector<BackendStanding>& table, const AttentionModel& model);

bool is_slot_used(const AttentionModel& model, AttentionSlot slot);

const SlotStanding& standing_of(
    const std::vector<BackendStanding>& table, const BackendInfo& backend, AttentionSlot slot
);

// What auto picks: the cheapest backends of one numerics class that fill all used slots, so that
// equal bits are kept; only when no class can, the cheapest for each slot.
SlotBackends choose_automatically(
    const std::vector<BackendStanding>& table, const AttentionModel& model
);

// Backends that fill every used slot, best first, the automatic choice marked: "cuda-mma (auto
// choice), cuda-ref". Never empty when something runs.
std::string works_here(
    const std::vector<BackendStanding>& table,
    const SlotBackends& automatic,
    const AttentionModel& model
);

// The distinct names among some slots' backends, "a and b".
std::string backend_names(const SlotBackends& backends, SlotSet slots);

}  // namespace rapt
