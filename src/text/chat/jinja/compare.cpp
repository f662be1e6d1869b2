#include <algorithm>
#include <cmath>

#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/hash_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_search_internal.h"

namespace rapt::jinja {

namespace {

bool numbers_equal(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) {
    return a.as_int() == b.as_int();
  }
  if (a.as_double() != b.as_double() || a.is_int() == b.is_int()) {
    return a.as_double() == b.as_double();
  }
  // A large whole number may only be near to the float.
  constexpr double kIntLimit = 0x1p127;
  const double real = a.as_double();
  const Int whole = a.is_int() ? a.as_int() : b.as_int();
  return real >= -kIntLimit && real < kIntLimit && static_cast<Int>(real) == whole;
}

bool sequences_equal(const Sequence& a, const Sequence& b) {
  // The views of a dict's keys and items are sets, but only compare with each other here.
  return a.type == b.type && std::ranges::equal(a.items, b.items, equal_as_items);
}

bool dicts_equal(const Dict& a, const Dict& b) {
  return a.entries().size() == b.entries().size() &&
         std::ranges::all_of(a.entries(), [&](const Dict::Entry& entry) {
           const Value* other = b.find(entry.first);
           return other != nullptr && equal_as_items(entry.second, *other);
         });
}

bool are_ordered_sequences(const Value& a, const Value& b) {
  return a.is(Kind::kSequence) && b.is(Kind::kSequence) &&
         a.as_sequence().type == b.as_sequence().type &&
         a.as_sequence().type <= SequenceType::kTuple;
}

Error no_order(const Value& a, const Value& b, std::string_view sign) {
  if (a.is_undefined() || b.is_undefined()) {
    return invalid_argument((a.is_undefined() ? a : b).undefined_message());
  }
  return invalid_argument(
      "'" + std::string(sign) + "' not supported between instances of '" + a.type_name() +
      "' and '" + b.type_name() + "'"
  );
}

// The first pair of items that differ decides, as in Python; nothing when one ends first.
const std::pair<const Value*, const Value*> first_difference(
    const std::vector<Value>& a, const std::vector<Value>& b
) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!equal_as_items(a[i], b[i])) {
      return {&a[i], &b[i]};
    }
  }
  return {nullptr, nullptr};
}

// Neither more than the smaller of the two.
Result<void> charge_comparison(Runtime& runtime, const Value& a, const Value& b) {
  return a.kind() == b.kind() ? runtime.charge_reading(std::min(a.weight(), b.weight()))
                              : Result<void>();
}

// Where lists are equal up to a pair of lists, that pair is read again: once a level.
Result<void> charge_ordering(Runtime& runtime, const Value& a, const Value& b) {
  const auto num_levels = static_cast<std::uint64_t>(1 + std::min(a.depth(), b.depth()));
  return a.kind() == b.kind()
             ? runtime.charge_reading(num_levels * std::min(a.weight(), b.weight()))
             : Result<void>();
}

Result<bool> less_or_equal(const Value& a, const Value& b);

}  // namespace

bool equal_as_items(const Value& a, const Value& b) {
  const auto is_nan = [](const Value& value) {
    return value.is(Kind::kFloat) && std::isnan(value.as_double());
  };
  return equals(a, b) || (is_nan(a) && is_nan(b));
}

bool equals(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return numbers_equal(a, b);
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kText:
      return a.as_bytes() == b.as_bytes();
    case Kind::kSequence:
      return sequences_equal(a.as_sequence(), b.as_sequence());
    case Kind::kDict:
      return dicts_equal(a.as_dict(), b.as_dict());
    default:
      return a.is_same(b);
  }
}

Result<bool> are_equal(Runtime& runtime, const Value& a, const Value& b) {
  RETURN_IF_ERROR(charge_comparison(runtime, a, b));
  return equals(a, b);
}

Result<bool> is_less(Runtime& runtime, const Value& a, const Value& b) {
  RETURN_IF_ERROR(charge_ordering(runtime, a, b));
  return less(a, b);
}

Result<bool> is_less_or_equal(Runtime& runtime, const Value& a, const Value& b) {
  RETURN_IF_ERROR(charge_ordering(runtime, a, b));
  return less_or_equal(a, b);
}

Result<bool> less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? a.as_int() < b.as_int() : a.as_double() < b.as_double();
  }
  if (a.is_text() && b.is_text()) {
    return a.as_bytes() < b.as_bytes();
  }
  if (are_ordered_sequences(a, b)) {
    const std::vector<Value>& left = a.as_sequence().items;
    const std::vector<Value>& right = b.as_sequence().items;
    const auto [x, y] = first_difference(left, right);
    return x == nullptr ? left.size() < right.size() : less(*x, *y);
  }
  return no_order(a, b, "<");
}

namespace {

Result<bool> less_or_equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? a.as_int() <= b.as_int() : a.as_double() <= b.as_double();
  }
  if (a.is_text() && b.is_text()) {
    return a.as_bytes() <= b.as_bytes();
  }
  if (are_ordered_sequences(a, b)) {
    const std::vector<Value>& left = a.as_sequence().items;
    const std::vector<Value>& right = b.as_sequence().items;
    const auto [x, y] = first_difference(left, right);
    return x == nullptr ? left.size() <= right.size() : less_or_equal(*x, *y);
  }
  return no_order(a, b, "<=");
}

Result<void> check_key(const Value& key) {
  if (!hash_of(key)) {
    return invalid_argument("a " + key.type_name() + " cannot be a key: it has no hash");
  }
  return {};
}

// What is looked up in the dict that `view` shows, if it shows one: a key, or the key of a pair.
const Value* key_looked_for(const Sequence& view, const Value& item) {
  if (view.type == SequenceType::kKeys) {
    return &item;
  }
  const bool is_pair = item.kind() == Kind::kSequence &&
                       item.as_sequence().type == SequenceType::kTuple &&
                       item.as_sequence().items.size() == 2;
  return view.type == SequenceType::kItems && is_pair ? &item.as_sequence().items[0] : nullptr;
}

}  // namespace

Result<void> charge_item_search(Runtime& runtime, const Value& items, const Value& wanted) {
  const std::uint64_t num_items = items.is(Kind::kSequence) ? items.as_sequence().items.size()
                                                            : items.as_iterator().items.size();
  // Comparing reads no more of an item than of what is wanted.
  const std::uint64_t each = std::min(wanted.weight() + kValueWeight, kMaxWeight / (num_items + 1));
  return runtime.charge_reading(std::min(num_items * each, items.weight()));
}

Result<bool> contains(Runtime& runtime, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kUndefined:
      return false;
    case Kind::kText:
      if (!item.is_text()) {
        return invalid_argument(
            "'in <string>' requires string as left operand, not " + item.type_name()
        );
      }
      RETURN_IF_ERROR(runtime.charge_search(container.as_bytes(), item.as_bytes()));
      return find_text(container.as_bytes(), item.as_bytes()) != std::string_view::npos;
    case Kind::kSequence:
      RETURN_IF_ERROR(charge_item_search(runtime, container, item));
      if (const Value* key = key_looked_for(container.as_sequence(), item)) {
        RETURN_IF_ERROR(check_key(*key));
      }
      return std::ranges::any_of(container.as_sequence().items, [&](const Value& candidate) {
        return candidate.is_same(item) || equal_as_items(candidate, item);
      });
    case Kind::kDict:
      RETURN_IF_ERROR(runtime.charge_reading(item.weight()));
      RETURN_IF_ERROR(check_key(item));
      return container.as_dict().find(item) != nullptr;
    case Kind::kIterator: {
      RETURN_IF_ERROR(charge_item_search(runtime, container, item));
      Iterator& iterator = container.as_iterator();
      while (iterator.num_read < iterator.items.size()) {
        if (equal_as_items(iterator.items[iterator.num_read++], item)) {
          return true;
        }
      }
      return false;
    }
    default:
      return invalid_argument("argument of type '" + container.type_name() + "' is not iterable");
  }
}

}  // namespace rapt::jinja
