#pragma once

#include <string>
#include <vector>

#include "attention/select/selector.h"

namespace rapt {

// Everything that keeps a variant from filling a slot in this run; empty when nothing does.
std::vector<Reason> check_variant(
    const BackendInfo& backend,
    const KernelVariant& variant,
    AttentionSlot slot,
    const SelectRequest& request
);

// What the KV cache stores for the layers of a slot.
KVType kv_type_of(const AttentionRunOptions& run, AttentionSlot slot);

// "64 or 128", "a multiple of 16 from 16 to 256", "any": for messages and tables.
std::string size_rule_text(const SizeRule& rule);

// "SM 9.0", "SM 8.0 to 9.0 or 12.0 to 12.1".
std::string capabilities_text(std::span<const CapabilityRange> ranges);

// Compares versions number by number: "9.13" is later than "9.2.1".
bool is_older_version(std::string_view a, std::string_view b);

}  // namespace rapt
