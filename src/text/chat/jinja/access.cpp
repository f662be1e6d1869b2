#include <algorithm>
#include <utility>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/loop_state_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/unicode_internal.h"
#include "text/chat/jinja/value_text_internal.h"

namespace rapt::jinja {

namespace {

std::string described(const Value& object) {
  return object.is_none() ? "None" : object.type_name() + " object";
}

Value no_attribute(const Value& object, std::string_view name) {
  return Value::undefined("'" + described(object) + "' has no attribute '" + shortened(name) + "'");
}

Value no_element(const Value& object, const Value& key) {
  return key.is_text() ? no_attribute(object, key.as_bytes())
                       : Value::undefined(described(object) + " has no element " + repr_text(key));
}

// What Python calls an attribute: not an item. Nothing when there is none.
Result<std::optional<Value>> own_attribute(
    Runtime& runtime, const Value& object, std::string_view name
) {
  if (object.is_undefined()) {
    return invalid_argument(object.undefined_message());
  }
  if (object.is(Kind::kNamespace)) {
    const Value* value = object.as_namespace().find(name);
    return value == nullptr ? std::nullopt : std::optional<Value>(*value);
  }
  if (object.is(Kind::kLoop)) {
    return object.as_loop().attribute(name);
  }
  if (object.is(Kind::kCallable)) {
    if (auto value = object.as_callable().attribute(name)) {
      // It may have been made for this.
      RETURN_IF_ERROR(runtime.charge_for(*value));
      RETURN_IF_ERROR(runtime.charge_characters(value->weight()));
      return value;
    }
  }
  if (object.is(Kind::kSequence) && object.as_sequence().is_group) {
    if (name == "grouper" || name == "list") {
      return std::optional<Value>(object.as_sequence().items[name == "list" ? 1 : 0]);
    }
  }
  if (const Builtin* method = find_method(object, name)) {
    return std::optional<Value>(bound_builtin(*method, object));
  }
  const bool is_private = name.starts_with("__") && name.ends_with("__") && name.size() > 4;
  if (is_private || is_changing_method(object, name)) {
    return std::optional<Value>(Value::undefined(
        "access to attribute '" + shortened(name) + "' of '" + object.type_name() +
            "' object is unsafe.",
        true
    ));
  }
  return std::optional<Value>();
}

std::optional<std::size_t> wrapped_index(Int index, std::size_t size) {
  const auto count = static_cast<Int>(size);
  const Int wrapped = index < 0 ? index + count : index;
  return wrapped >= 0 && wrapped < count ? std::optional<std::size_t>(wrapped) : std::nullopt;
}

std::optional<Value> character_at(const MarkedText& text, Int index) {
  const std::optional<std::size_t> place = wrapped_index(index, num_code_points(text.bytes()));
  if (!place) {
    return std::nullopt;
  }
  const std::size_t begin = byte_offset(text.bytes(), *place);
  return Value::text(text.slice(begin, begin + code_point_at(text.bytes(), begin).num_bytes));
}

// What `object[key]` is in Python, without the detour to attributes.
std::optional<Value> own_item(const Value& object, const Value& key) {
  if (object.is(Kind::kDict)) {
    const Value* value = object.as_dict().find(key);
    return value == nullptr ? std::nullopt : std::optional<Value>(*value);
  }
  if (!key.is_int()) {
    return std::nullopt;
  }
  if (object.is_text()) {
    return character_at(object.as_text(), key.as_int());
  }
  if (object.is(Kind::kSequence) && object.as_sequence().can_be_indexed()) {
    const std::vector<Value>& items = object.as_sequence().items;
    const std::optional<std::size_t> place = wrapped_index(key.as_int(), items.size());
    return place ? std::optional<Value>(items[*place]) : std::nullopt;
  }
  return std::nullopt;
}

// A slice's indices, as Python works them out.
struct SliceBounds {
  Int start = 0;
  Int stop = 0;
  Int step = 1;
};

Result<Int> slice_number(const Value& value, Int absent) {
  if (value.is_none()) {
    return absent;
  }
  if (!value.is_int()) {
    return invalid_argument("slice indices must be integers or None");
  }
  return value.as_int();
}

Result<SliceBounds> slice_bounds(
    const Value& start, const Value& stop, const Value& step, std::size_t size
) {
  SliceBounds bounds;
  ASSIGN_OR_RETURN(bounds.step, slice_number(step, 1));
  if (bounds.step == 0) {
    return invalid_argument("slice step cannot be zero");
  }
  const bool is_forward = bounds.step > 0;
  const auto count = static_cast<Int>(size);
  const Int low = is_forward ? 0 : -1;
  const Int high = is_forward ? count : count - 1;
  const auto bound = [&](Int value) {
    return std::clamp(value < 0 ? value + count : value, low, high);
  };
  ASSIGN_OR_RETURN(const Int given_start, slice_number(start, 0));
  ASSIGN_OR_RETURN(const Int given_stop, slice_number(stop, 0));
  bounds.start = start.is_none() ? (is_forward ? low : high) : bound(given_start);
  bounds.stop = stop.is_none() ? (is_forward ? high : low) : bound(given_stop);
  // A step beyond the end is as good as any other, and cannot overflow.
  bounds.step = std::clamp(bounds.step, -count - 1, count + 1);
  return bounds;
}

std::vector<std::uint32_t> slice_indices(const SliceBounds& bounds) {
  std::vector<std::uint32_t> indices;
  for (Int i = bounds.start; bounds.step > 0 ? i < bounds.stop : i > bounds.stop;
       i += bounds.step) {
    indices.push_back(static_cast<std::uint32_t>(i));
  }
  return indices;
}

Value slice_text(const MarkedText& text, const SliceBounds& bounds) {
  const std::string& bytes = text.bytes();
  if (bounds.step == 1) {
    const auto start = static_cast<std::size_t>(bounds.start);
    const auto stop = static_cast<std::size_t>(std::max(bounds.start, bounds.stop));
    return Value::text(text.slice(byte_offset(bytes, start), byte_offset(bytes, stop)));
  }
  // Texts have less than 4 GiB: they come in requests, or have at most MarkedText::kMaxBytes.
  std::vector<std::uint32_t> begins;
  begins.reserve(num_code_points(bytes) + 1);
  for (std::size_t pos = 0; pos < bytes.size(); pos += code_point_at(bytes, pos).num_bytes) {
    begins.push_back(static_cast<std::uint32_t>(pos));
  }
  begins.push_back(static_cast<std::uint32_t>(bytes.size()));
  MarkedText out;
  for (const std::size_t i : slice_indices(bounds)) {
    out.append(text, begins[i], begins[i + 1]);
  }
  return Value::text(std::move(out));
}

Value slice_sequence(const Sequence& sequence, const SliceBounds& bounds) {
  Sequence part;
  part.type = sequence.type;
  for (const std::size_t i : slice_indices(bounds)) {
    part.items.push_back(sequence.items[i]);
  }
  part.range_start = sequence.range_start + bounds.start * sequence.range_step;
  part.range_stop = sequence.range_start + bounds.stop * sequence.range_step;
  part.range_step = sequence.range_step * bounds.step;
  return Value::sequence(std::move(part));
}

}  // namespace

Result<Value> get_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  RETURN_IF_ERROR(runtime.charge_reading(name.size()));
  ASSIGN_OR_RETURN(std::optional<Value> attribute, own_attribute(runtime, object, name));
  if (attribute) {
    return *std::move(attribute);
  }
  if (object.is(Kind::kDict)) {
    if (const Value* value = object.as_dict().find(name)) {
      return *value;
    }
  }
  return no_attribute(object, name);
}

Result<Value> get_item(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is_undefined()) {
    return invalid_argument(object.undefined_message());
  }
  RETURN_IF_ERROR(runtime.charge_reading(key.weight()));
  if (object.is_text()) {
    RETURN_IF_ERROR(runtime.charge_reading(object.as_bytes().size()));
  }
  if (std::optional<Value> item = own_item(object, key)) {
    return *std::move(item);
  }
  if (key.is_text()) {
    ASSIGN_OR_RETURN(
        std::optional<Value> attribute, own_attribute(runtime, object, key.as_bytes())
    );
    if (attribute) {
      return *std::move(attribute);
    }
  }
  return no_element(object, key);
}

Result<Value> get_slice(
    Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step
) {
  if (object.is_undefined()) {
    return invalid_argument(object.undefined_message());
  }
  if (object.is_text()) {
    ASSIGN_OR_RETURN(
        const SliceBounds bounds,
        slice_bounds(start, stop, step, num_code_points(object.as_bytes()))
    );
    const std::size_t num_bytes = object.as_bytes().size();
    RETURN_IF_ERROR(
        bounds.step == 1 ? runtime.charge_reading(num_bytes) : runtime.charge_characters(num_bytes)
    );
    return slice_text(object.as_text(), bounds);
  }
  if (object.is(Kind::kSequence) && object.as_sequence().can_be_indexed()) {
    const Sequence& sequence = object.as_sequence();
    ASSIGN_OR_RETURN(
        const SliceBounds bounds, slice_bounds(start, stop, step, sequence.items.size())
    );
    return slice_sequence(sequence, bounds);
  }
  return Value::undefined(described(object) + " has no slices");
}

Result<std::vector<Value>> items_of(Runtime& runtime, const Value& iterable) {
  std::vector<Value> items;
  switch (iterable.kind()) {
    case Kind::kUndefined:
      if (iterable.is_forbidden()) {
        return invalid_argument(iterable.undefined_message());
      }
      return items;
    case Kind::kText: {
      const MarkedText& text = iterable.as_text();
      RETURN_IF_ERROR(runtime.charge_reading(text.size()));
      const std::size_t num_characters = num_code_points(text.bytes());
      if (num_characters > kMaxItems) {
        return invalid_argument(
            "a text of more than " + std::to_string(kMaxItems) +
            " characters cannot be taken one by one"
        );
      }
      RETURN_IF_ERROR(runtime.charge(kStepsAPart * num_characters));
      items.reserve(num_characters);
      for (std::size_t pos = 0; pos < text.size();) {
        const std::size_t end = pos + code_point_at(text.bytes(), pos).num_bytes;
        items.push_back(Value::text(text.slice(pos, end)));
        pos = end;
      }
      return items;
    }
    case Kind::kSequence:
      RETURN_IF_ERROR(runtime.charge(kStepsAnItem * iterable.as_sequence().items.size()));
      return iterable.as_sequence().items;
    case Kind::kDict:
      RETURN_IF_ERROR(runtime.charge(kStepsAnItem * iterable.as_dict().entries().size()));
      for (const Dict::Entry& entry : iterable.as_dict().entries()) {
        items.push_back(entry.first);
      }
      return items;
    case Kind::kIterator: {
      Iterator& iterator = iterable.as_iterator();
      RETURN_IF_ERROR(runtime.charge(kStepsAnItem * (iterator.items.size() - iterator.num_read)));
      const auto first = iterator.items.begin() + static_cast<std::ptrdiff_t>(iterator.num_read);
      items.assign(first, iterator.items.end());
      iterator.num_read = iterator.items.size();
      return items;
    }
    default:
      return invalid_argument("'" + iterable.type_name() + "' object is not iterable");
  }
}

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kText:
    case Kind::kSequence:
    case Kind::kDict:
    case Kind::kIterator:
    case Kind::kLoop:
      return true;
    default:
      return false;
  }
}

std::optional<Int> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kText:
      return static_cast<Int>(num_code_points(value.as_bytes()));
    case Kind::kSequence:
      return static_cast<Int>(value.as_sequence().items.size());
    case Kind::kDict:
      return static_cast<Int>(value.as_dict().entries().size());
    default:
      return std::nullopt;
  }
}

Result<Value> call_value(Runtime& runtime, const Value& callee, Arguments arguments) {
  if (callee.is(Kind::kCallable)) {
    return callee.as_callable().call(runtime, std::move(arguments));
  }
  if (callee.is(Kind::kLoop)) {
    if (arguments.positional.size() != 1 || !arguments.keywords.empty()) {
      return invalid_argument("loop() takes one argument: what to loop over");
    }
    return callee.as_loop().recurse(arguments.positional[0]);
  }
  if (callee.is_undefined()) {
    return invalid_argument(callee.undefined_message());
  }
  return invalid_argument("'" + callee.type_name() + "' object is not callable");
}

}  // namespace rapt::jinja
