#pragma once

#include <functional>
#include <span>
#include <vector>

#include "text/chat/jinja/callable_internal.h"

// The builtins by what they work on, one file each, and what those files share.

namespace rapt::jinja {

std::span<const Builtin> text_filters();
std::span<const Builtin> number_filters();
std::span<const Builtin> sequence_filters();
std::span<const Builtin> order_filters();
std::span<const Builtin> selection_filters();

std::span<const Builtin> text_methods();
std::span<const Builtin> text_question_methods();
std::span<const Builtin> container_methods();

// Looks up the attribute that a filter was told by name: "a.b.0", a number, or none for the item
// itself. With `fold_case`, texts are lower-cased, for comparing.
class AttributeGetter {
 public:
  static AttributeGetter whole_item(bool fold_case) { return AttributeGetter(fold_case); }

  // `attribute` is none, a number or a text.
  static Result<AttributeGetter> make(
      Runtime& runtime, const Value& attribute, bool fold_case, std::optional<Value> absent = {}
  );

  Result<Value> get(Runtime& runtime, const Value& item) const;

 private:
  explicit AttributeGetter(bool fold_case) : fold_case_(fold_case) {}

  std::vector<Value> parts_;
  std::optional<Value> absent_;
  bool fold_case_;
};

// Texts in lower case; everything else as it is.
Result<Value> without_case(Runtime& runtime, const Value& value);

// Sorts stably by key; an error when two keys have no order. `items` and `keys` go together.
Result<std::vector<Value>> sorted_by(
    Runtime& runtime, std::vector<Value> items, const std::vector<Value>& keys, bool is_reversed
);

}  // namespace rapt::jinja
