#include <algorithm>

#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/builtins_internal.h"

namespace rapt::jinja {

namespace {

const Builtin* find_in(std::span<const Builtin> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Builtin::name);
  return found == table.end() ? nullptr : &*found;
}

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

const Builtin* find_filter(std::string_view name) {
  for (const auto table :
       {text_filters(),
        number_filters(),
        sequence_filters(),
        order_filters(),
        selection_filters()}) {
    if (const Builtin* found = find_in(table, name)) {
      return found;
    }
  }
  return nullptr;
}

const Builtin* find_method(const Value& self, std::string_view name) {
  if (self.is_text()) {
    const Builtin* method = find_in(text_methods(), name);
    return method != nullptr ? method : find_in(text_question_methods(), name);
  }
  if (self.is(Kind::kDict)) {
    const bool is_known = is_any(name, {"items", "keys", "values", "get", "copy"});
    return is_known ? find_in(container_methods(), name) : nullptr;
  }
  if (self.is(Kind::kSequence) && self.as_sequence().can_be_indexed()) {
    const bool is_list = self.as_sequence().type == SequenceType::kList;
    const bool is_known = is_any(name, {"index", "count"}) || (is_list && name == "copy");
    return is_known ? find_in(container_methods(), name) : nullptr;
  }
  if (self.is(Kind::kFloat) || self.is_int()) {
    const bool is_known = name == (self.is_int() ? "bit_length" : "is_integer");
    return is_known ? find_in(container_methods(), name) : nullptr;
  }
  return nullptr;
}

bool is_changing_method(const Value& self, std::string_view name) {
  if (self.is(Kind::kDict)) {
    return is_any(name, {"clear", "pop", "popitem", "setdefault", "update"});
  }
  if (self.is(Kind::kSequence) && self.as_sequence().type == SequenceType::kList) {
    return is_any(
        name, {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"}
    );
  }
  return false;
}

}  // namespace rapt::jinja
