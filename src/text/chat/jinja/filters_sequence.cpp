#include <algorithm>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/operators_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/unicode_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// Filters that take lists and the like, or any value at all.

namespace rapt::jinja {

namespace {

Result<Value> filter_default(const Call& call) {
  const bool is_replaced =
      call.self.is_undefined() || (call.truth(1, false) && !call.self.is_true());
  if (!is_replaced) {
    return call.self;
  }
  return call.has(0) ? call[0] : Value::text("");
}

Result<Value> filter_length(const Call& call) {
  if (call.self.is_text()) {
    RETURN_IF_ERROR(call.runtime.charge_reading(call.self.as_bytes().size()));
  }
  const std::optional<Int> length = length_of(call.self);
  if (!length) {
    return invalid_argument("object of type '" + call.self.type_name() + "' has no len()");
  }
  return Value::integer(*length);
}

// The first or last of what items_of() would give, without making all of it; undefined when there
// is none.
Result<Value> item_at_end(const Call& call, bool wants_last) {
  const Value& self = call.self;
  const auto pick = [&](const auto& items) { return wants_last ? items.back() : items.front(); };
  if (self.is_text() && self.is_true()) {
    const MarkedText& text = self.as_text();
    const std::size_t begin = wants_last ? begin_of_previous(text.bytes(), text.size()) : 0;
    return Value::text(text.slice(begin, begin + code_point_at(text.bytes(), begin).num_bytes));
  }
  if (self.is(Kind::kSequence) && self.is_true()) {
    return pick(self.as_sequence().items);
  }
  if (self.is(Kind::kDict) && self.is_true()) {
    return pick(self.as_dict().entries()).first;
  }
  // What is empty or cannot be gone through.
  RETURN_IF_ERROR(items_of(call.runtime, self));
  return Value::undefined(
      wants_last ? "No last item, sequence was empty." : "No first item, sequence was empty."
  );
}

Result<Value> filter_first(const Call& call) {
  if (call.self.is(Kind::kIterator)) {
    Iterator& iterator = call.self.as_iterator();
    if (iterator.num_read < iterator.items.size()) {
      return iterator.items[iterator.num_read++];
    }
  }
  return item_at_end(call, false);
}

Result<Value> filter_last(const Call& call) {
  if (call.self.is(Kind::kIterator)) {
    return invalid_argument("'generator' object is not reversible");
  }
  return item_at_end(call, true);
}

Result<Value> filter_list(const Call& call) {
  ASSIGN_OR_RETURN(std::vector<Value> items, items_of(call.runtime, call.self));
  return Value::list(std::move(items));
}

Result<Value> filter_reverse(const Call& call) {
  if (call.self.is_text()) {
    const MarkedText& text = call.self.as_text();
    RETURN_IF_ERROR(call.runtime.charge_characters(text.size()));
    MarkedText reversed;
    for (std::size_t end = text.size(); end > 0;) {
      const std::size_t begin = begin_of_previous(text.bytes(), end);
      reversed.append(text, begin, end);
      end = begin;
    }
    return Value::text(std::move(reversed));
  }
  ASSIGN_OR_RETURN(std::vector<Value> items, items_of(call.runtime, call.self));
  std::reverse(items.begin(), items.end());
  return call.self.is(Kind::kIterator) ? Value::list(std::move(items))
                                       : Value::iterator(std::move(items));
}

Result<Value> filter_join(const Call& call) {
  MarkedText separator;
  if (call.has(0)) {
    ASSIGN_OR_RETURN(separator, str_of(call.runtime, call[0]));
  }
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  ASSIGN_OR_RETURN(
      const AttributeGetter getter,
      AttributeGetter::make(call.runtime, call.has(1) ? call[1] : Value::none(), false)
  );
  MarkedText out;
  bool is_first = true;
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(const Value part, getter.get(call.runtime, item));
    if (!is_first) {
      out.append(separator);
    }
    is_first = false;
    append_str(out, part);
    if (out.overflowed()) {
      return text_overflow();
    }
  }
  return Value::text(std::move(out));
}

Result<Value> filter_items(const Call& call) {
  std::vector<Value> pairs;
  if (call.self.is(Kind::kDict)) {
    RETURN_IF_ERROR(call.runtime.charge(kStepsAnEntry * call.self.as_dict().entries().size()));
    for (const auto& [key, value] : call.self.as_dict().entries()) {
      pairs.push_back(Value::tuple({key, value}));
    }
  } else if (!call.self.is_undefined()) {
    return invalid_argument("Can only get item pairs from a mapping.");
  }
  return Value::iterator(std::move(pairs));
}

Result<Value> filter_sum(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  ASSIGN_OR_RETURN(
      const AttributeGetter getter,
      AttributeGetter::make(call.runtime, call.has(0) ? call[0] : Value::none(), false)
  );
  Value total = call.has(1) ? call[1] : Value::integer(0);
  if (total.is_text()) {
    return invalid_argument("sum() can't sum strings [use the filter join instead]");
  }
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(const Value part, getter.get(call.runtime, item));
    ASSIGN_OR_RETURN(total, arithmetic(call.runtime, "+", total, part));
    RETURN_IF_ERROR(call.runtime.charge_for(total));
  }
  return total;
}

// Lists of `linecount` items each; the last is filled up when there is something to fill it with.
Result<Value> filter_batch(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  ASSIGN_OR_RETURN(const Int size, call.integer(0, 0));
  std::vector<Value> batches;
  std::vector<Value> batch;
  for (const Value& item : items) {
    if (static_cast<Int>(batch.size()) == size) {
      RETURN_IF_ERROR(call.runtime.charge(kStepsAnEntry));
      batches.push_back(Value::list(std::exchange(batch, {})));
    }
    batch.push_back(item);
  }
  if (!batch.empty()) {
    constexpr Int kMaxFill = 100'000;
    const bool is_filled = call.has(1) && !call[1].is_none();
    if (is_filled && size > kMaxFill) {
      return invalid_argument("batch() fills up to 100000 items at most");
    }
    if (is_filled && size > 0) {
      RETURN_IF_ERROR(call.runtime.charge(kStepsAnItem * static_cast<std::uint64_t>(size)));
    }
    while (is_filled && static_cast<Int>(batch.size()) < size) {
      batch.push_back(call[1]);
    }
    batches.push_back(Value::list(std::move(batch)));
  }
  return Value::iterator(std::move(batches));
}

// `slices` lists of about the same length.
Result<Value> filter_slice(const Call& call) {
  constexpr Int kMaxSlices = 100'000;
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  ASSIGN_OR_RETURN(const Int count, call.integer(0, 0));
  if (count <= 0 || count > kMaxSlices) {
    return invalid_argument("slice() makes between 1 and 100000 slices");
  }
  const auto num_slices = static_cast<std::size_t>(count);
  RETURN_IF_ERROR(call.runtime.charge(kStepsAnEntry * num_slices));
  const std::size_t size = items.size() / num_slices;
  const std::size_t num_longer = items.size() % num_slices;
  std::vector<Value> slices;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < num_slices; ++i) {
    const std::size_t end = begin + size + (i < num_longer ? 1 : 0);
    std::vector<Value> slice(
        items.begin() + static_cast<std::ptrdiff_t>(begin),
        items.begin() + static_cast<std::ptrdiff_t>(end)
    );
    if (call.has(1) && !call[1].is_none() && i >= num_longer) {
      slice.push_back(call[1]);
    }
    slices.push_back(Value::list(std::move(slice)));
    begin = end;
  }
  return Value::iterator(std::move(slices));
}

Result<Value> filter_attr(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText name, call.text(0, ""));
  if (call.self.is(Kind::kDict)) {
    // Without the detour to the dict's items.
    ASSIGN_OR_RETURN(Value attribute, get_attribute(call.runtime, call.self, name.bytes()));
    return attribute.is(Kind::kCallable) || attribute.is_forbidden()
               ? attribute
               : Value::undefined(
                     "'dict object' has no attribute '" + shortened(name.bytes()) + "'"
                 );
  }
  return get_attribute(call.runtime, call.self, name.bytes());
}

constexpr Builtin kFilters[] = {
    {"default", "default_value? boolean?", filter_default},
    {"d", "default_value? boolean?", filter_default},
    {"length", "", filter_length},
    {"count", "", filter_length},
    {"first", "", filter_first},
    {"last", "", filter_last},
    {"list", "", filter_list},
    {"reverse", "", filter_reverse},
    {"join", "d? attribute?", filter_join},
    {"items", "", filter_items},
    {"sum", "attribute? start?", filter_sum},
    {"batch", "linecount fill_with?", filter_batch},
    {"slice", "slices fill_with?", filter_slice},
    {"attr", "name", filter_attr},
};

}  // namespace

std::span<const Builtin> sequence_filters() {
  return kFilters;
}

}  // namespace rapt::jinja
