#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/operators_internal.h"
#include "text/chat/jinja/runtime_internal.h"

// Filters that make numbers.

namespace rapt::jinja {

namespace {

constexpr double kIntLimit = 1.7e38;

// Rounding writes a float with up to some hundred digits and reads it again.
constexpr std::uint64_t kStepsToRound = 20;

// int(value) of a number that is finite.
Result<Value> truncated(double value) {
  if (std::fabs(value) > kIntLimit) {
    return int_overflow();
  }
  return Value::integer(static_cast<Int>(std::trunc(value)));
}

// int(text), or else the whole part of float(text), or else the default.
Result<Value> int_of_text(std::string_view text, int base, const Value& absent) {
  bool overflowed = false;
  const std::optional<Int> whole = parse_int(text, base, overflowed);
  if (whole && overflowed) {
    return int_overflow();
  }
  if (whole) {
    return Value::integer(*whole);
  }
  const std::optional<double> real = parse_float(text);
  return real && std::isfinite(*real) ? truncated(*real) : absent;
}

Result<Value> filter_int(const Call& call) {
  const Value absent = call.has(0) ? call[0] : Value::integer(0);
  ASSIGN_OR_RETURN(const Int base, call.integer(1, 10));
  if (base != 0 && (base < 2 || base > 36)) {
    return invalid_argument("int() base must be >= 2 and <= 36, or 0");
  }
  const Value& value = call.self;
  if (value.is_text()) {
    RETURN_IF_ERROR(call.runtime.charge_characters(value.as_bytes().size()));
    return int_of_text(value.as_bytes(), static_cast<int>(base), absent);
  }
  if (value.is_int()) {
    return Value::integer(value.as_int());
  }
  if (value.is(Kind::kFloat)) {
    if (std::isinf(value.as_double())) {
      return invalid_argument("cannot convert float infinity to integer");
    }
    return std::isnan(value.as_double()) ? absent : truncated(value.as_double());
  }
  if (value.is_undefined()) {
    return invalid_argument(value.undefined_message());
  }
  return absent;
}

Result<Value> filter_float(const Call& call) {
  const Value& value = call.self;
  if (value.is_number()) {
    return Value::real(value.as_double());
  }
  if (value.is_undefined()) {
    return invalid_argument(value.undefined_message());
  }
  if (value.is_text()) {
    RETURN_IF_ERROR(call.runtime.charge_characters(value.as_bytes().size()));
  }
  const std::optional<double> real = value.is_text() ? parse_float(value.as_bytes()) : std::nullopt;
  if (real) {
    return Value::real(*real);
  }
  return call.has(0) ? call[0] : Value::real(0.0);
}

Result<Value> filter_abs(const Call& call) {
  if (call.self.is_int()) {
    return call.self.as_int() < 0 ? negative(call.self) : Value::integer(call.self.as_int());
  }
  if (call.self.is(Kind::kFloat)) {
    return Value::real(std::fabs(call.self.as_double()));
  }
  return call.self.is_undefined()
             ? invalid_argument(call.self.undefined_message())
             : invalid_argument("bad operand type for abs(): '" + call.self.type_name() + "'");
}

// The decimal digits decide, and of two equally near numbers the even one is taken.
double rounded(double value, int precision) {
  constexpr int kMaxDigits = 320;
  if (!std::isfinite(value) || precision > kMaxDigits) {
    return value;
  }
  if (precision < 0) {
    const double unit = std::pow(10.0, -precision);
    return std::isfinite(unit) ? std::nearbyint(value / unit) * unit : 0.0;
  }
  char text[800];
  std::snprintf(text, sizeof(text), "%.*f", precision, value);
  return std::strtod(text, nullptr);
}

Result<Value> rounded_int(Int value, Int precision) {
  if (precision >= 0) {
    return Value::integer(value);
  }
  Int unit = 1;
  for (Int i = precision; i < 0; ++i) {
    if (__builtin_mul_overflow(unit, Int{10}, &unit)) {
      return Value::integer(0);
    }
  }
  const Int rest = ((value % unit) + unit) % unit;
  const Int floor = value - rest;
  const bool goes_up = rest > unit - rest || (rest == unit - rest && (floor / unit) % 2 != 0);
  return Value::integer(floor + (goes_up ? unit : 0));
}

Result<Value> filter_round(const Call& call) {
  constexpr Int kPrecisionLimit = 1000;
  ASSIGN_OR_RETURN(Int precision, call.integer(0, 0));
  ASSIGN_OR_RETURN(const MarkedText method, call.text(1, "common"));
  precision = precision > kPrecisionLimit    ? kPrecisionLimit
              : precision < -kPrecisionLimit ? -kPrecisionLimit
                                             : precision;
  RETURN_IF_ERROR(call.runtime.charge(kStepsToRound));
  if (!call.self.is_number()) {
    return call.self.is_undefined()
               ? invalid_argument(call.self.undefined_message())
               : invalid_argument("round() works on a number, not on a " + call.self.type_name());
  }
  if (method.bytes() == "common") {
    return call.self.is_int()
               ? rounded_int(call.self.as_int(), precision)
               : Value::real(rounded(call.self.as_double(), static_cast<int>(precision)));
  }
  if (method.bytes() != "ceil" && method.bytes() != "floor") {
    return invalid_argument("method must be common, ceil or floor");
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = call.self.as_double() * unit;
  return Value::real((method.bytes() == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit);
}

constexpr Builtin kFilters[] = {
    {"int", "default? base?", filter_int},
    {"float", "default?", filter_float},
    {"abs", "", filter_abs},
    {"round", "precision? method?", filter_round},
};

}  // namespace

std::span<const Builtin> number_filters() {
  return kFilters;
}

}  // namespace rapt::jinja
