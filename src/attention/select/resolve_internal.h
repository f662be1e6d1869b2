#pragma once

#include <string>
#include <vector>

#include "attention/select/alias_internal.h"
#include "attention/select/standings_internal.h"

namespace rapt {

// One name that was asked for, and the slots it was asked for.
struct NameRequest {
  SlotChoice choice;
  SlotSet slots;
};

// What a name comes to on this device.
struct NameOutcome {
  SlotBackends backends = {};        // for the request's slots
  const AliasInfo* alias = nullptr;  // null: one of Rapt's own names, or unknown
  bool is_followed = true;           // false: it cannot run, and auto decides
  std::vector<AttentionMessage> messages;
};

// Names are looked up among Rapt's own first, then among the aliases. What cannot run is an error
// when the choice is strict; else auto's choice is taken and a warning says so.
Result<NameOutcome> resolve_name(
    const NameRequest& name,
    const SelectRequest& request,
    const std::vector<BackendStanding>& table,
    const SlotBackends& automatic
);

// The message about a name that nobody knows: what is near, what is known. Without a full stop.
std::string unknown_name_text(std::string_view name, std::span<const BackendInfo* const> backends);

}  // namespace rapt
