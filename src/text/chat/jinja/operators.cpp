#include <cmath>

#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/operators_internal.h"
#include "text/chat/jinja/percent_format_internal.h"
#include "text/chat/jinja/runtime_internal.h"

namespace rapt::jinja {

namespace {

Error no_operator(std::string_view sign, const Value& a, const Value& b) {
  if (a.is_undefined() || b.is_undefined()) {
    return invalid_argument((a.is_undefined() ? a : b).undefined_message());
  }
  return invalid_argument(
      "unsupported operand types for " + std::string(sign) + ": '" + a.type_name() + "' and '" +
      b.type_name() + "'"
  );
}

Int floor_divide(Int a, Int b) {
  const Int quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Result<Value> int_power(Int base, Int exponent) {
  if (exponent < 0) {
    if (base == 0) {
      return invalid_argument("0.0 cannot be raised to a negative power");
    }
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  if (base == 0 || base == 1) {
    return Value::integer(exponent == 0 ? 1 : base);
  }
  if (base == -1) {
    return Value::integer(exponent % 2 == 0 ? 1 : -1);
  }
  Int power = 1;
  for (Int i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(power, base, &power)) {
      return int_overflow();
    }
  }
  return Value::integer(power);
}

Result<Value> int_arithmetic(std::string_view sign, Int a, Int b) {
  Int result = 0;
  bool overflowed = false;
  if (sign == "+") {
    overflowed = __builtin_add_overflow(a, b, &result);
  } else if (sign == "-") {
    overflowed = __builtin_sub_overflow(a, b, &result);
  } else if (sign == "*") {
    overflowed = __builtin_mul_overflow(a, b, &result);
  } else if (sign == "**") {
    return int_power(a, b);
  } else if (b == 0) {
    return invalid_argument(sign == "/" ? "division by zero" : "integer modulo by zero");
  } else if (sign == "/") {
    return Value::real(static_cast<double>(a) / static_cast<double>(b));
  } else if (b == -1) {
    // The one quotient that may not fit.
    overflowed = sign == "//" && __builtin_sub_overflow(Int{0}, a, &result);
  } else {
    const Int quotient = floor_divide(a, b);
    result = sign == "//" ? quotient : a - quotient * b;
  }
  if (overflowed) {
    return int_overflow();
  }
  return Value::integer(result);
}

Result<Value> float_arithmetic(std::string_view sign, double a, double b) {
  if (sign == "+") {
    return Value::real(a + b);
  }
  if (sign == "-") {
    return Value::real(a - b);
  }
  if (sign == "*") {
    return Value::real(a * b);
  }
  if (sign == "**") {
    if ((a == 0.0 && b < 0.0) || (a < 0.0 && std::floor(b) != b && std::isfinite(b))) {
      return invalid_argument("the power is no real number");
    }
    const double power = std::pow(a, b);
    if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) {
      return invalid_argument("the result is too large");
    }
    return Value::real(power);
  }
  if (b == 0.0) {
    return invalid_argument("float division by zero");
  }
  if (sign == "/") {
    return Value::real(a / b);
  }
  double remainder = std::fmod(a, b);
  if (remainder != 0.0 && (remainder < 0.0) != (b < 0.0)) {
    remainder += b;
  } else if (remainder == 0.0) {
    remainder = std::copysign(0.0, b);
  }
  if (sign == "%") {
    return Value::real(remainder);
  }
  const double quotient = (a - remainder) / b;
  const double rounded = std::floor(quotient);
  return Value::real(quotient - rounded > 0.5 ? rounded + 1.0 : rounded);
}

bool is_joinable(const Value& value) {
  return value.is(Kind::kSequence) && value.as_sequence().type <= SequenceType::kTuple;
}

Result<Value> add(const Value& a, const Value& b) {
  if (a.is_text() && b.is_text()) {
    MarkedText text = a.as_text();
    text.append(b.as_text());
    return Value::text(std::move(text));
  }
  if (is_joinable(a) && is_joinable(b) && a.as_sequence().type == b.as_sequence().type) {
    Sequence joined;
    joined.type = a.as_sequence().type;
    joined.items = a.as_sequence().items;
    const std::vector<Value>& more = b.as_sequence().items;
    if (joined.items.size() + more.size() > kMaxItems) {
      return list_overflow();
    }
    joined.items.insert(joined.items.end(), more.begin(), more.end());
    return Value::sequence(std::move(joined));
  }
  return no_operator("+", a, b);
}

Result<Value> repeat(const Value& value, Int count) {
  if (value.is_text()) {
    // By doubling, so that even a text that grows too large does so quickly.
    MarkedText text;
    MarkedText unit = value.as_text();
    for (; count > 0 && !unit.empty() && !text.overflowed() && !unit.overflowed(); count >>= 1U) {
      if (count % 2 != 0) {
        text.append(unit);
      }
      if (count > 1) {
        unit.append(MarkedText(unit));
      }
    }
    if (unit.overflowed()) {
      return text_overflow();
    }
    return Value::text(std::move(text));
  }
  const std::vector<Value>& items = value.as_sequence().items;
  Sequence repeated;
  repeated.type = value.as_sequence().type;
  for (Int i = 0; i < count && !items.empty(); ++i) {
    if (repeated.items.size() + items.size() > kMaxItems) {
      return list_overflow();
    }
    repeated.items.insert(repeated.items.end(), items.begin(), items.end());
  }
  return Value::sequence(std::move(repeated));
}

}  // namespace

Error int_overflow() {
  return invalid_argument("a whole number does not fit 128 bits");
}

Result<Value> arithmetic(Runtime& runtime, std::string_view sign, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? int_arithmetic(sign, a.as_int(), b.as_int())
                                    : float_arithmetic(sign, a.as_double(), b.as_double());
  }
  if (sign == "+") {
    return add(a, b);
  }
  if (sign == "%" && a.is_text()) {
    return percent_format(runtime, a.as_text(), b);
  }
  if (sign == "*") {
    if ((a.is_text() || is_joinable(a)) && b.is_int()) {
      return repeat(a, b.as_int());
    }
    if ((b.is_text() || is_joinable(b)) && a.is_int()) {
      return repeat(b, a.as_int());
    }
  }
  return no_operator(sign, a, b);
}

Result<Value> negative(const Value& value) {
  if (value.is_int()) {
    return int_arithmetic("-", 0, value.as_int());
  }
  if (value.is(Kind::kFloat)) {
    return Value::real(-value.as_double());
  }
  return value.is_undefined()
             ? invalid_argument(value.undefined_message())
             : invalid_argument("bad operand type for unary -: '" + value.type_name() + "'");
}

Result<Value> positive(const Value& value) {
  if (value.is_int()) {
    return Value::integer(value.as_int());
  }
  if (value.is(Kind::kFloat)) {
    return value;
  }
  return value.is_undefined()
             ? invalid_argument(value.undefined_message())
             : invalid_argument("bad operand type for unary +: '" + value.type_name() + "'");
}

Result<bool> compare(Runtime& runtime, std::string_view sign, const Value& a, const Value& b) {
  if (sign == "==") {
    return are_equal(runtime, a, b);
  }
  if (sign == "!=") {
    ASSIGN_OR_RETURN(const bool is_equal, are_equal(runtime, a, b));
    return !is_equal;
  }
  if (sign == "<") {
    return is_less(runtime, a, b);
  }
  if (sign == "<=") {
    return is_less_or_equal(runtime, a, b);
  }
  if (sign == ">") {
    return is_less(runtime, b, a);
  }
  if (sign == ">=") {
    return is_less_or_equal(runtime, b, a);
  }
  ASSIGN_OR_RETURN(const bool is_in, contains(runtime, b, a));
  return (sign == "in") == is_in;
}

}  // namespace rapt::jinja
