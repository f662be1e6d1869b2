#include <algorithm>
#include <cmath>
#include <functional>

#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/loop_state_internal.h"

namespace rapt::jinja {

namespace {

bool numbers_equal(const Value& a, const Value& b) {
  return a.is_int() && b.is_int() ? a.as_int() == b.as_int() : a.as_double() == b.as_double();
}

bool sequences_equal(const Sequence& a, const Sequence& b) {
  // The views of a dict's keys and items are sets, but only compare with each other here.
  return a.type == b.type && std::ranges::equal(a.items, b.items, equals);
}

bool dicts_equal(const Dict& a, const Dict& b) {
  return a.entries().size() == b.entries().size() &&
         std::ranges::all_of(a.entries(), [&](const Dict::Entry& entry) {
           const Value* other = b.find(entry.first);
           return other != nullptr && equals(entry.second, *other);
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
    if (!equals(a[i], b[i])) {
      return {&a[i], &b[i]};
    }
  }
  return {nullptr, nullptr};
}

}  // namespace

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

Result<bool> is_less(const Value& a, const Value& b) {
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
    return x == nullptr ? left.size() < right.size() : is_less(*x, *y);
  }
  return no_order(a, b, "<");
}

Result<bool> is_less_or_equal(const Value& a, const Value& b) {
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
    return x == nullptr ? left.size() <= right.size() : is_less_or_equal(*x, *y);
  }
  return no_order(a, b, "<=");
}

namespace {

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

Result<bool> contains(const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kUndefined:
      return false;
    case Kind::kText:
      if (!item.is_text()) {
        return invalid_argument(
            "'in <string>' requires string as left operand, not " + item.type_name()
        );
      }
      return container.as_bytes().find(item.as_bytes()) != std::string_view::npos;
    case Kind::kSequence:
      if (const Value* key = key_looked_for(container.as_sequence(), item)) {
        RETURN_IF_ERROR(check_key(*key));
      }
      return std::ranges::any_of(container.as_sequence().items, [&](const Value& candidate) {
        return candidate.is_same(item) || equals(candidate, item);
      });
    case Kind::kDict:
      RETURN_IF_ERROR(check_key(item));
      return container.as_dict().find(item) != nullptr;
    case Kind::kIterator: {
      Iterator& iterator = container.as_iterator();
      while (iterator.num_read < iterator.items.size()) {
        if (equals(iterator.items[iterator.num_read++], item)) {
          return true;
        }
      }
      return false;
    }
    default:
      return invalid_argument("argument of type '" + container.type_name() + "' is not iterable");
  }
}

std::size_t hash_of_text(std::string_view bytes) {
  return std::hash<std::string_view>()(bytes);
}

std::optional<std::size_t> hash_of(const Value& value) {
  constexpr std::size_t kMixer = 0x9E3779B97F4A7C15ULL;
  switch (value.kind()) {
    case Kind::kUndefined:
      return kMixer;
    case Kind::kNone:
      return kMixer + 1;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return std::hash<double>()(value.as_double());
    case Kind::kText:
      return hash_of_text(value.as_bytes());
    case Kind::kSequence: {
      const Sequence& sequence = value.as_sequence();
      if (sequence.type != SequenceType::kTuple && sequence.type != SequenceType::kRange) {
        return std::nullopt;
      }
      std::size_t hash = sequence.items.size();
      for (const Value& item : sequence.items) {
        const std::optional<std::size_t> part = hash_of(item);
        if (!part) {
          return std::nullopt;
        }
        hash = (hash ^ *part) * kMixer;
      }
      return hash;
    }
    case Kind::kDict:
      return std::nullopt;
    case Kind::kNamespace:
      return std::hash<const void*>()(&value.as_namespace());
    case Kind::kLoop:
      return std::hash<const void*>()(&value.as_loop());
    case Kind::kIterator:
      return std::hash<const void*>()(&value.as_iterator());
    case Kind::kCallable:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace rapt::jinja
