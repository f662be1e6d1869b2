#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_operations_internal.h"

// Filters that compare items: sort, unique, groupby and the like.

namespace rapt::jinja {

Result<Value> without_case(Runtime& runtime, const Value& value) {
  if (!value.is_text()) {
    return value;
  }
  RETURN_IF_ERROR(runtime.charge(kStepsAPart));
  RETURN_IF_ERROR(runtime.charge_characters(value.as_bytes().size()));
  return Value::text(to_case(value.as_text(), Case::kLower));
}

Result<AttributeGetter> AttributeGetter::make(
    Runtime& runtime, const Value& attribute, bool fold_case, std::optional<Value> absent
) {
  AttributeGetter getter(fold_case);
  getter.absent_ = std::move(absent);
  if (attribute.is_none()) {
    return getter;
  }
  if (!attribute.is_text()) {
    getter.parts_.push_back(attribute);
    return getter;
  }
  ASSIGN_OR_RETURN(
      const std::vector<MarkedText> parts, split(runtime, attribute.as_text(), ".", -1, false)
  );
  for (const MarkedText& part : parts) {
    bool overflowed = false;
    const bool is_number = !part.empty() && std::ranges::all_of(part.bytes(), [](char c) {
      return c >= '0' && c <= '9';
    });
    const std::optional<Int> index = parse_int(part.bytes(), 10, overflowed);
    getter.parts_.push_back(
        is_number && index && !overflowed ? Value::integer(*index) : Value::text(part)
    );
  }
  return getter;
}

Result<Value> AttributeGetter::get(Runtime& runtime, const Value& item) const {
  Value value = item;
  RETURN_IF_ERROR(runtime.charge(parts_.size()));
  for (const Value& part : parts_) {
    ASSIGN_OR_RETURN(value, get_item(runtime, value, part));
    if (absent_ && value.is_undefined()) {
      value = *absent_;
    }
  }
  if (value.is_undefined()) {
    RETURN_IF_ERROR(runtime.charge_for(value));
  }
  return fold_case_ ? without_case(runtime, value) : value;
}

namespace {

// Merge sort, since comparing may fail.
class Sorter {
 public:
  Sorter(Runtime& runtime, const std::vector<Value>& keys, bool is_reversed)
      : runtime_(runtime),
        keys_(keys),
        is_reversed_(is_reversed),
        order_(keys.size()),
        buffer_(keys.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  Result<std::vector<std::size_t>> run() {
    for (std::size_t width = 1; width < order_.size(); width *= 2) {
      for (std::size_t begin = 0; begin < order_.size(); begin += 2 * width) {
        RETURN_IF_ERROR(merge(
            begin,
            std::min(begin + width, order_.size()),
            std::min(begin + 2 * width, order_.size())
        ));
      }
      std::swap(order_, buffer_);
    }
    return std::move(order_);
  }

 private:
  Result<bool> goes_first(std::size_t a, std::size_t b) const {
    RETURN_IF_ERROR(runtime_.charge(1));
    return is_reversed_ ? is_less(runtime_, keys_[b], keys_[a])
                        : is_less(runtime_, keys_[a], keys_[b]);
  }

  Result<void> merge(std::size_t begin, std::size_t middle, std::size_t end) {
    std::size_t left = begin;
    std::size_t right = middle;
    for (std::size_t out = begin; out < end; ++out) {
      bool takes_right = left == middle;
      if (left < middle && right < end) {
        // The right one only if it is really before: equal items keep their order.
        ASSIGN_OR_RETURN(takes_right, goes_first(order_[right], order_[left]));
      }
      buffer_[out] = takes_right ? order_[right++] : order_[left++];
    }
    return {};
  }

  Runtime& runtime_;
  const std::vector<Value>& keys_;
  bool is_reversed_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> buffer_;
};

Result<std::vector<Value>> keys_of(
    Runtime& runtime, const std::vector<Value>& items, const AttributeGetter& getter
) {
  RETURN_IF_ERROR(runtime.charge(kStepsAnItem * items.size()));
  std::vector<Value> keys;
  keys.reserve(items.size());
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(Value key, getter.get(runtime, item));
    keys.push_back(std::move(key));
  }
  return keys;
}

// "age,name": lists of both.
Result<std::vector<Value>> multiple_keys_of(
    Runtime& runtime, const std::vector<Value>& items, const Value& attribute, bool fold_case
) {
  std::vector<Value> attributes = {attribute};
  if (attribute.is_text()) {
    ASSIGN_OR_RETURN(
        std::vector<MarkedText> parts, split(runtime, attribute.as_text(), ",", -1, false)
    );
    attributes.clear();
    for (MarkedText& part : parts) {
      attributes.push_back(Value::text(std::move(part)));
    }
  }
  std::vector<AttributeGetter> getters;
  for (const Value& part : attributes) {
    ASSIGN_OR_RETURN(AttributeGetter getter, AttributeGetter::make(runtime, part, fold_case));
    getters.push_back(std::move(getter));
  }
  std::vector<Value> keys;
  keys.reserve(items.size());
  for (const Value& item : items) {
    std::vector<Value> key;
    RETURN_IF_ERROR(runtime.charge(kStepsAnEntry + kStepsAnItem * getters.size()));
    for (const AttributeGetter& getter : getters) {
      ASSIGN_OR_RETURN(Value part, getter.get(runtime, item));
      key.push_back(std::move(part));
    }
    keys.push_back(Value::list(std::move(key)));
  }
  return keys;
}

Result<Value> filter_sort(const Call& call) {
  ASSIGN_OR_RETURN(std::vector<Value> items, items_of(call.runtime, call.self));
  ASSIGN_OR_RETURN(
      const std::vector<Value> keys,
      multiple_keys_of(
          call.runtime, items, call.has(2) ? call[2] : Value::none(), !call.truth(1, false)
      )
  );
  ASSIGN_OR_RETURN(
      std::vector<Value> sorted,
      sorted_by(call.runtime, std::move(items), keys, call.truth(0, false))
  );
  return Value::list(std::move(sorted));
}

Result<Value> filter_dictsort(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText by, call.text(1, "key"));
  if (by.bytes() != "key" && by.bytes() != "value") {
    return invalid_argument("You can only sort by either \"key\" or \"value\"");
  }
  if (!call.self.is(Kind::kDict)) {
    return invalid_argument(
        call.self.is_undefined() ? call.self.undefined_message()
                                 : "dictsort() works on a dict, not on a " + call.self.type_name()
    );
  }
  std::vector<Value> pairs;
  std::vector<Value> keys;
  RETURN_IF_ERROR(
      call.runtime.charge((kStepsAnEntry + kStepsAnItem) * call.self.as_dict().entries().size())
  );
  for (const auto& [key, value] : call.self.as_dict().entries()) {
    Value sorted_by_this = by.bytes() == "key" ? key : value;
    if (!call.truth(0, false)) {
      ASSIGN_OR_RETURN(sorted_by_this, without_case(call.runtime, sorted_by_this));
    }
    keys.push_back(std::move(sorted_by_this));
    pairs.push_back(Value::tuple({key, value}));
  }
  ASSIGN_OR_RETURN(
      std::vector<Value> sorted,
      sorted_by(call.runtime, std::move(pairs), keys, call.truth(2, false))
  );
  return Value::list(std::move(sorted));
}

// What an item is compared by: the attribute that argument 1 names, or itself.
Result<AttributeGetter> getter_of(const Call& call) {
  return AttributeGetter::make(
      call.runtime, call.has(1) ? call[1] : Value::none(), !call.truth(0, false)
  );
}

Result<Value> filter_unique(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  ASSIGN_OR_RETURN(const AttributeGetter getter, getter_of(call));
  Dict seen;
  std::vector<Value> unique;
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(Value key, getter.get(call.runtime, item));
    RETURN_IF_ERROR(call.runtime.charge_reading(key.weight()));
    if (seen.find(key) == nullptr) {
      RETURN_IF_ERROR(call.runtime.charge(kStepsAnEntry));
      RETURN_IF_ERROR(seen.put(std::move(key), Value::none()));
      unique.push_back(item);
    }
  }
  return Value::iterator(std::move(unique));
}

Result<Value> extreme(const Call& call, bool wants_largest) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call.self));
  if (items.empty()) {
    return Value::undefined("No aggregated item, sequence was empty.");
  }
  ASSIGN_OR_RETURN(const AttributeGetter getter, getter_of(call));
  ASSIGN_OR_RETURN(const std::vector<Value> keys, keys_of(call.runtime, items, getter));
  std::size_t best = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    ASSIGN_OR_RETURN(
        const bool is_better,
        wants_largest ? is_less(call.runtime, keys[best], keys[i])
                      : is_less(call.runtime, keys[i], keys[best])
    );
    best = is_better ? i : best;
  }
  return items[best];
}

Result<Value> filter_min(const Call& call) {
  return extreme(call, false);
}

Result<Value> filter_max(const Call& call) {
  return extreme(call, true);
}

Value group(Value grouper, std::vector<Value> items) {
  Sequence pair;
  pair.type = SequenceType::kTuple;
  pair.is_group = true;
  pair.items = {std::move(grouper), Value::list(std::move(items))};
  return Value::sequence(std::move(pair));
}

Result<Value> filter_groupby(const Call& call) {
  ASSIGN_OR_RETURN(std::vector<Value> items, items_of(call.runtime, call.self));
  const bool fold_case = !call.truth(2, false);
  const std::optional<Value> absent =
      call.has(1) && !call[1].is_none() ? std::optional<Value>(call[1]) : std::nullopt;
  ASSIGN_OR_RETURN(
      const AttributeGetter getter, AttributeGetter::make(call.runtime, call[0], fold_case, absent)
  );
  ASSIGN_OR_RETURN(
      const AttributeGetter exact, AttributeGetter::make(call.runtime, call[0], false, absent)
  );
  ASSIGN_OR_RETURN(const std::vector<Value> unsorted_keys, keys_of(call.runtime, items, getter));
  ASSIGN_OR_RETURN(items, sorted_by(call.runtime, std::move(items), unsorted_keys, false));
  ASSIGN_OR_RETURN(const std::vector<Value> keys, keys_of(call.runtime, items, getter));
  std::vector<Value> groups;
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin + 1;
    for (; end < items.size(); ++end) {
      ASSIGN_OR_RETURN(const bool is_same, are_equal(call.runtime, keys[begin], keys[end]));
      if (!is_same) {
        break;
      }
    }
    RETURN_IF_ERROR(call.runtime.charge(2 * kStepsAnEntry + kStepsAnItem * (end - begin)));
    ASSIGN_OR_RETURN(Value grouper, exact.get(call.runtime, items[begin]));
    groups.push_back(group(
        std::move(grouper),
        {items.begin() + static_cast<std::ptrdiff_t>(begin),
         items.begin() + static_cast<std::ptrdiff_t>(end)}
    ));
    begin = end;
  }
  return Value::list(std::move(groups));
}

constexpr Builtin kFilters[] = {
    {"sort", "reverse? case_sensitive? attribute?", filter_sort},
    {"dictsort", "case_sensitive? by? reverse?", filter_dictsort},
    {"unique", "case_sensitive? attribute?", filter_unique},
    {"min", "case_sensitive? attribute?", filter_min},
    {"max", "case_sensitive? attribute?", filter_max},
    {"groupby", "attribute default? case_sensitive?", filter_groupby},
};

}  // namespace

Result<std::vector<Value>> sorted_by(
    Runtime& runtime, std::vector<Value> items, const std::vector<Value>& keys, bool is_reversed
) {
  RETURN_IF_ERROR(runtime.charge(items.size() * kStepsAnItem));
  ASSIGN_OR_RETURN(const std::vector<std::size_t> order, Sorter(runtime, keys, is_reversed).run());
  std::vector<Value> sorted;
  sorted.reserve(items.size());
  for (const std::size_t idx : order) {
    sorted.push_back(std::move(items[idx]));
  }
  return sorted;
}

std::span<const Builtin> order_filters() {
  return kFilters;
}

}  // namespace rapt::jinja
