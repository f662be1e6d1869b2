#include <algorithm>
#include <cmath>

#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/hash_internal.h"
#include "text/chat/jinja/runtime_internal.h"

// Methods of dicts, lists, tuples and numbers; those that change a list or a dict are hidden.

namespace rapt::jinja {

namespace {

Value view(SequenceType type, std::vector<Value> items) {
  Sequence made;
  made.type = type;
  made.items = std::move(items);
  return Value::sequence(std::move(made));
}

// For a view of a dict, whose items take so many steps each.
Result<void> charge_view(const Call& call, std::uint64_t steps_an_item) {
  return call.runtime.charge(steps_an_item * call.self.as_dict().entries().size());
}

Result<Value> method_keys(const Call& call) {
  RETURN_IF_ERROR(charge_view(call, kStepsAnItem));
  std::vector<Value> keys;
  for (const auto& [key, value] : call.self.as_dict().entries()) {
    keys.push_back(key);
  }
  return view(SequenceType::kKeys, std::move(keys));
}

Result<Value> method_values(const Call& call) {
  RETURN_IF_ERROR(charge_view(call, kStepsAnItem));
  std::vector<Value> values;
  for (const auto& [key, value] : call.self.as_dict().entries()) {
    values.push_back(value);
  }
  return view(SequenceType::kValues, std::move(values));
}

Result<Value> method_items(const Call& call) {
  RETURN_IF_ERROR(charge_view(call, kStepsAnEntry));
  std::vector<Value> pairs;
  for (const auto& [key, value] : call.self.as_dict().entries()) {
    pairs.push_back(Value::tuple({key, value}));
  }
  return view(SequenceType::kItems, std::move(pairs));
}

Result<Value> method_get(const Call& call) {
  RETURN_IF_ERROR(call.runtime.charge_reading(call[0].weight()));
  if (!hash_of(call[0])) {
    return invalid_argument("unhashable type: '" + call[0].type_name() + "'");
  }
  const Value* value = call.self.as_dict().find(call[0]);
  if (value != nullptr) {
    return *value;
  }
  return call.has(1) ? call[1] : Value::none();
}

// Nothing can change, so a copy is the same as the thing.
Result<Value> method_copy(const Call& call) {
  return call.self;
}

Result<Value> method_index(const Call& call) {
  const std::vector<Value>& items = call.self.as_sequence().items;
  const auto size = static_cast<Int>(items.size());
  ASSIGN_OR_RETURN(Int start, call.integer(1, 0));
  ASSIGN_OR_RETURN(Int stop, call.integer(2, size));
  start = start < 0 ? std::max<Int>(start + size, 0) : start;
  stop = std::min(stop < 0 ? stop + size : stop, size);
  RETURN_IF_ERROR(charge_item_search(call.runtime, call.self, call[0]));
  for (Int i = start; i < stop; ++i) {
    if (equal_as_items(items[static_cast<std::size_t>(i)], call[0])) {
      return Value::integer(i);
    }
  }
  return invalid_argument("the value is not in the list");
}

Result<Value> method_count(const Call& call) {
  RETURN_IF_ERROR(charge_item_search(call.runtime, call.self, call[0]));
  const auto count = std::ranges::count_if(call.self.as_sequence().items, [&](const Value& item) {
    return equal_as_items(item, call[0]);
  });
  return Value::integer(static_cast<Int>(count));
}

Result<Value> method_is_integer(const Call& call) {
  const double value = call.self.as_double();
  return Value::boolean(std::isfinite(value) && std::floor(value) == value);
}

Result<Value> method_bit_length(const Call& call) {
  const bool is_negative = call.self.as_int() < 0;
  const auto bits = static_cast<unsigned __int128>(call.self.as_int());
  unsigned __int128 rest = is_negative ? -bits : bits;
  Int length = 0;
  for (; rest != 0; rest >>= 1U) {
    ++length;
  }
  return Value::integer(length);
}

constexpr Builtin kMethods[] = {
    {"items", "", method_items},
    {"keys", "", method_keys},
    {"values", "", method_values},
    {"get", "key default?", method_get},
    {"copy", "", method_copy},
    {"index", "value start? stop?", method_index},
    {"count", "value", method_count},
    {"is_integer", "", method_is_integer},
    {"bit_length", "", method_bit_length},
};

}  // namespace

std::span<const Builtin> container_methods() {
  return kMethods;
}

}  // namespace rapt::jinja
