#include <algorithm>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/builtins_internal.h"
#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/operators_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/unicode_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// What can stand behind `is`.

namespace rapt::jinja {

namespace {

template <bool (*question)(const Value&)>
Result<Value> answer(const Call& call) {
  return Value::boolean(question(call.self));
}

// remainder of self by `divisor`, against `wanted`
Result<Value> has_remainder(const Call& call, const Value& divisor, Int wanted) {
  ASSIGN_OR_RETURN(const Value remainder, arithmetic(call.runtime, "%", call.self, divisor));
  return Value::boolean(equals(remainder, Value::integer(wanted)));
}

Result<Value> test_odd(const Call& call) {
  return has_remainder(call, Value::integer(2), 1);
}

Result<Value> test_even(const Call& call) {
  return has_remainder(call, Value::integer(2), 0);
}

Result<Value> test_divisibleby(const Call& call) {
  return has_remainder(call, call[0], 0);
}

Result<Value> compared(const Call& call, std::string_view sign) {
  ASSIGN_OR_RETURN(const bool holds, compare(call.runtime, sign, call.self, call[0]));
  return Value::boolean(holds);
}

Result<Value> test_eq(const Call& call) {
  return compared(call, "==");
}

Result<Value> test_ne(const Call& call) {
  return compared(call, "!=");
}

Result<Value> test_lt(const Call& call) {
  return compared(call, "<");
}

Result<Value> test_le(const Call& call) {
  return compared(call, "<=");
}

Result<Value> test_gt(const Call& call) {
  return compared(call, ">");
}

Result<Value> test_ge(const Call& call) {
  return compared(call, ">=");
}

Result<Value> test_in(const Call& call) {
  return compared(call, "in");
}

Result<Value> test_sameas(const Call& call) {
  return Value::boolean(call.self.is_same(call[0]));
}

Result<Value> test_filter(const Call& call) {
  return Value::boolean(call.self.is_text() && find_filter(call.self.as_bytes()) != nullptr);
}

Result<Value> test_test(const Call& call) {
  return Value::boolean(call.self.is_text() && find_test(call.self.as_bytes()) != nullptr);
}

bool is_integer(const Value& value) {
  return value.is(Kind::kInt);
}

// What has a length and can be indexed, in Jinja's eyes.
bool is_sequence(const Value& value) {
  return value.is_undefined() || value.is_text() || value.is(Kind::kDict) ||
         (value.is(Kind::kSequence) && value.as_sequence().can_be_indexed());
}

bool is_callable(const Value& value) {
  // Undefined has the method that calls need, though it always fails.
  return value.is(Kind::kCallable) || value.is(Kind::kLoop) || value.is_undefined();
}

// Whether there is a letter with a case, and none of the other case.
Result<Value> has_only_case(const Call& call, bool (*is_wanted)(std::uint32_t)) {
  ASSIGN_OR_RETURN(const MarkedText text, str_of(call.runtime, call.self));
  RETURN_IF_ERROR(call.runtime.charge_characters(text.size()));
  bool has_wanted = false;
  for (std::size_t pos = 0; pos < text.size();) {
    const CodePoint c = code_point_at(text.bytes(), pos);
    if (is_wanted(c.value)) {
      has_wanted = true;
    } else if (is_upper(c.value) || is_lower(c.value) || is_title(c.value)) {
      return Value::boolean(false);
    }
    pos += c.num_bytes;
  }
  return Value::boolean(has_wanted);
}

Result<Value> test_lower(const Call& call) {
  return has_only_case(call, is_lower);
}

Result<Value> test_upper(const Call& call) {
  return has_only_case(call, is_upper);
}

constexpr Builtin kTests[] = {
    {"defined", "", answer<[](const Value& v) { return !v.is_undefined(); }>},
    {"undefined", "", answer<[](const Value& v) { return v.is_undefined(); }>},
    {"none", "", answer<[](const Value& v) { return v.is_none(); }>},
    {"boolean", "", answer<[](const Value& v) { return v.is(Kind::kBool); }>},
    {"true", "", answer<[](const Value& v) { return v.is(Kind::kBool) && v.as_bool(); }>},
    {"false", "", answer<[](const Value& v) { return v.is(Kind::kBool) && !v.as_bool(); }>},
    {"integer", "", answer<is_integer>},
    {"float", "", answer<[](const Value& v) { return v.is(Kind::kFloat); }>},
    {"number", "", answer<[](const Value& v) { return v.is_number(); }>},
    {"string", "", answer<[](const Value& v) { return v.is_text(); }>},
    {"mapping", "", answer<[](const Value& v) { return v.is(Kind::kDict); }>},
    {"sequence", "", answer<is_sequence>},
    {"iterable", "", answer<is_iterable>},
    {"callable", "", answer<is_callable>},
    {"escaped", "", answer<[](const Value&) { return false; }>},
    {"lower", "", test_lower},
    {"upper", "", test_upper},
    {"odd", "", test_odd},
    {"even", "", test_even},
    {"divisibleby", "num", test_divisibleby},
    {"sameas", "other", test_sameas},
    {"in", "seq", test_in},
    {"filter", "", test_filter},
    {"test", "", test_test},
    {"eq", "other", test_eq},
    {"equalto", "other", test_eq},
    {"==", "other", test_eq},
    {"ne", "other", test_ne},
    {"!=", "other", test_ne},
    {"lt", "other", test_lt},
    {"lessthan", "other", test_lt},
    {"<", "other", test_lt},
    {"le", "other", test_le},
    {"<=", "other", test_le},
    {"gt", "other", test_gt},
    {"greaterthan", "other", test_gt},
    {">", "other", test_gt},
    {"ge", "other", test_ge},
    {">=", "other", test_ge},
};

}  // namespace

const Builtin* find_test(std::string_view name) {
  const auto* const found = std::ranges::find(kTests, name, &Builtin::name);
  return found == std::end(kTests) ? nullptr : found;
}

}  // namespace rapt::jinja
