#include "attention/select/check_internal.h"
#include "attention/select/plan.h"

namespace rapt {

namespace {

std::size_t at(AttentionSlot slot) {
  return static_cast<std::size_t>(index_of(slot));
}

json::value number_or_null(const std::optional<double>& value) {
  return value.has_value() ? json::value(*value) : json::value(nullptr);
}

json::object model_json(const AttentionModel& model) {
  return {
      {"name", model.name},
      {"family", model.family},
      {"num_full_layers", model.num_full_layers},
      {"num_sliding_layers", model.num_sliding_layers},
      {"num_heads", model.num_heads},
      {"num_kv_heads", model.num_kv_heads},
      {"head_dim", model.head_dim},
      {"window", model.window},
      {"sinks", model.has_sinks},
      {"soft_cap", model.has_soft_cap},
      {"mla", model.is_mla},
      {"max_context", model.max_context},
  };
}

json::object device_json(const DeviceFacts& device) {
  const bool is_cpu = device.kind == DeviceKind::kCpu;
  json::object object = {
      {"id", device.id},
      {"name", device.name},
      {"kind", is_cpu ? "cpu" : "cuda"},
      {"simulated", device.is_simulated},
      {"memory_gb", device.memory_gb},
      {"bandwidth_gbs", device.bandwidth_gbs},
      {"measured", device.is_measured},
  };
  if (is_cpu) {
    object["cpu_level"] = name_of(device.cpu_level);
    object["threads"] = device.num_workers;
  } else {
    object["compute_capability"] = std::to_string(device.compute_capability / 10) + "." +
                                   std::to_string(device.compute_capability % 10);
    object["multiprocessors"] = device.num_workers;
  }
  return object;
}

json::array reasons_json(const std::vector<Reason>& reasons) {
  json::array array;
  for (const Reason& reason : reasons) {
    array.push_back(json::object{
        {"code", name_of(reason.code)},
        {"field", reason.field},
        {"need", reason.need},
        {"have", reason.have},
        {"hint", reason.hint},
        {"text", reason.text()},
    });
  }
  return array;
}

json::object slot_json(const SlotPlan& here) {
  json::object object = {{"used", here.is_used}};
  if (!here.is_used) {
    return object;
  }
  object["backend"] = here.backend->name;
  object["variant"] = here.variant->name;
  object["description"] = here.variant->description;
  object["origin"] = name_of(here.choice.is_auto() ? SettingOrigin::kAuto : here.choice.origin);
  object["setting"] = here.choice.is_auto() ? json::value(nullptr) : json::value(here.choice.text);
  object["alias"] = here.alias.empty() ? json::value(nullptr) : json::value(here.alias);
  json::array rules;
  for (const BucketRule& rule : here.rules) {
    rules.push_back(json::object{
        {"variant", rule.variant->name}, {"min_sequences", rule.min_sequences}});
  }
  object["rules"] = std::move(rules);
  return object;
}

json::object standing_json(const SlotStanding& standing) {
  json::object object = {
      {"variant",
       standing.variant != nullptr ? json::value(standing.variant->name) : json::value(nullptr)},
      {"valid", standing.is_valid()},
      {"reasons", reasons_json(standing.reasons)},
  };
  if (standing.is_valid()) {
    object["cost"] = standing.cost;
    object["typical_us"] = standing.typical_us;
  }
  if (standing.probe.has_value()) {
    object["probe"] = json::object{
        {"cases", standing.probe->num_cases},
        {"passed", standing.probe->num_passed},
        {"max_error", standing.probe->max_error},
        {"limit", standing.probe->limit},
        {"worst_case", standing.probe->worst_case},
    };
  }
  return object;
}

json::object backend_json(const BackendStanding& standing) {
  json::object slots;
  for (const AttentionSlot slot : kAttentionSlots) {
    slots[key_of(slot)] = standing_json(standing.slots[at(slot)]);
  }
  return {
      {"name", standing.backend->name},
      {"description", standing.backend->description},
      {"built", standing.backend->make != nullptr},
      {"estimate", standing.is_estimate},
      {"prefill_8k_us", number_or_null(standing.prefill_8k_us)},
      {"decode_32x8k_us", number_or_null(standing.decode_32x8k_us)},
      {"slots", std::move(slots)},
  };
}

}  // namespace

json::object plan_json(const AttentionPlan& plan) {
  json::object slots;
  for (const SlotPlan& here : plan.slots) {
    slots[key_of(here.slot)] = slot_json(here);
  }
  json::array table;
  for (const BackendStanding& standing : plan.table) {
    table.push_back(backend_json(standing));
  }
  json::array messages;
  for (const AttentionMessage& message : plan.messages) {
    messages.push_back(json::object{{"level", name_of(message.level)}, {"text", message.text}});
  }
  return {
      {"summary", startup_line(plan)},
      {"model", model_json(plan.model)},
      {"device", device_json(plan.device)},
      {"kv_dtype", name_of(plan.run.kv_type)},
      {"kv_dtype_sliding", name_of(kv_type_of(plan.run, AttentionSlot::kDecodeSliding))},
      {"block_size", plan.block_size},
      {"graph_level", name_of(plan.graph_level)},
      {"workspace_bytes_per_row", plan.workspace_bytes_per_row},
      {"deterministic", plan.run.is_deterministic},
      {"numerics_class", plan.numerics_class},
      {"slots", std::move(slots)},
      {"backends", std::move(table)},
      {"messages", std::move(messages)},
  };
}

}  // namespace rapt
