#include <algorithm>
#include <cmath>
#include <optional>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/brace_format_internal.h"
#include "text/chat/jinja/number_format_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_operations_internal.h"
#include "text/chat/jinja/value_text_internal.h"

namespace rapt::jinja {

namespace {

struct Spec {
  NumberStyle style = {};
  bool has_align = false;
  bool has_type = false;
};

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

// [[fill]align][sign][#][0][width][grouping][.precision][type]
Result<Spec> read_spec(std::string_view text) {
  Spec spec;
  std::size_t pos = 0;
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  const std::size_t first = text.empty() ? 0 : code_point_at(text, 0).num_bytes;
  if (first > 0 && is_align(at(first))) {
    spec.style.fill = text.substr(0, first);
    spec.style.align = at(first);
    spec.has_align = true;
    pos = first + 1;
  } else if (is_align(at(0))) {
    spec.style.align = at(0);
    spec.has_align = true;
    pos = 1;
  }
  if (at(pos) == '+' || at(pos) == '-' || at(pos) == ' ') {
    spec.style.sign = at(pos++);
  }
  if (at(pos) == '#') {
    spec.style.is_alternate = true;
    ++pos;
  }
  if (at(pos) == '0') {
    if (!spec.has_align) {
      spec.style.fill = "0";
      spec.style.align = '=';
      spec.has_align = true;
    }
    ++pos;
  }
  ASSIGN_OR_RETURN(spec.style.width, read_format_number(text, pos, kMaxFormatWidth));
  if (at(pos) == ',' || at(pos) == '_') {
    spec.style.group = at(pos++);
  }
  if (at(pos) == '.') {
    ++pos;
    ASSIGN_OR_RETURN(spec.style.precision, read_format_number(text, pos, kMaxFormatPrecision));
  }
  if (pos < text.size()) {
    spec.style.type = text[pos++];
    spec.has_type = true;
  }
  if (pos < text.size()) {
    return invalid_argument("invalid format specifier '" + shortened(text) + "'");
  }
  return spec;
}

Error unknown_code(const Spec& spec, const Value& value) {
  return invalid_argument(
      std::string("unknown format code '") + spec.style.type + "' for an object of type '" +
      value.type_name() + "'"
  );
}

Result<MarkedText> format_text(const MarkedText& text, const Spec& spec) {
  if ((spec.has_type && spec.style.type != 's') || spec.style.align == '=') {
    return unknown_code(spec, Value::text(text));
  }
  MarkedText shown = text;
  if (spec.style.precision >= 0) {
    const auto kept = static_cast<std::size_t>(spec.style.precision);
    shown = text.slice(0, byte_offset(text.bytes(), kept));
  }
  const Int missing = spec.style.width - static_cast<Int>(num_code_points(shown.bytes()));
  const Int left = !spec.has_align || spec.style.align == '<' ? 0
                   : spec.style.align == '^'                  ? missing / 2
                                                              : missing;
  MarkedText out;
  for (Int i = 0; i < left; ++i) {
    out.append(spec.style.fill, Origin::kTemplate);
  }
  out.append(shown);
  for (Int i = std::max<Int>(left, 0); i < missing; ++i) {
    out.append(spec.style.fill, Origin::kTemplate);
  }
  return out;
}

// Without a type: the shortest digits, or with a precision that many of them.
std::string format_plain_float(double value, NumberStyle style) {
  std::string text;
  if (style.precision < 0) {
    text = float_text(std::fabs(value));
  } else {
    NumberStyle digits;
    digits.type = 'g';
    digits.precision = std::max(style.precision, 1);
    text = format_float(std::fabs(value), digits);
    if (text.find_first_of(".en") == std::string::npos) {
      text += ".0";
    }
  }
  const bool is_negative = std::signbit(value) && !std::isnan(value);
  const std::string sign =
      is_negative ? "-" : (style.sign == '-' ? "" : std::string(1, style.sign));
  const int missing = std::max(style.width - static_cast<int>(sign.size() + text.size()), 0);
  const int left = style.align == '<' ? 0 : (style.align == '^' ? missing / 2 : missing);
  std::string before;
  std::string behind;
  for (int i = 0; i < missing; ++i) {
    (i < left ? before : behind) += style.fill;
  }
  return style.align == '=' ? sign + before + text : before + sign + text + behind;
}

Result<MarkedText> format_number(const Value& value, Spec spec) {
  constexpr std::string_view kFloatTypes = "eEfFgG";
  const auto made = [](std::string text) { return MarkedText(std::move(text), Origin::kTemplate); };
  const bool is_float_type = kFloatTypes.find(spec.style.type) != std::string_view::npos;
  if (spec.has_type && spec.style.type == '%') {
    NumberStyle style = spec.style;
    style.type = 'f';
    style.width = std::max(style.width - 1, 0);
    return made(format_float(value.as_double() * 100.0, style) + "%");
  }
  if (spec.has_type && is_float_type) {
    return made(format_float(value.as_double(), spec.style));
  }
  if (value.is(Kind::kFloat)) {
    if (spec.has_type) {
      return unknown_code(spec, value);
    }
    return made(format_plain_float(value.as_double(), spec.style));
  }
  if (spec.style.precision >= 0) {
    return invalid_argument("Precision not allowed in integer format specifier");
  }
  if (!spec.has_type || spec.style.type == 'n') {
    spec.style.type = 'd';
  }
  if (std::string_view("dboxX").find(spec.style.type) == std::string_view::npos) {
    return unknown_code(spec, value);
  }
  return made(format_int(value.as_int(), spec.style));
}

Result<MarkedText> format_value(Runtime& runtime, const Value& value, std::string_view spec_text) {
  if (spec_text.empty()) {
    return str_of(runtime, value);
  }
  RETURN_IF_ERROR(runtime.charge_reading(value.is_text() ? value.as_bytes().size() : 0));
  ASSIGN_OR_RETURN(const Spec spec, read_spec(spec_text));
  if (value.is_text()) {
    return format_text(value.as_text(), spec);
  }
  if (value.is_number()) {
    return format_number(value, spec);
  }
  return invalid_argument(
      "unsupported format string passed to " + value.type_name() + ".__format__"
  );
}

class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const MarkedText& text, const Arguments& arguments)
      : runtime_(runtime), text_(text), arguments_(arguments) {}

  Result<MarkedText> run() { return format(text_, 2); }

 private:
  // A format spec may hold fields of its own, one level deep.
  Result<MarkedText> format(const MarkedText& text, int depth) {
    if (depth < 0) {
      return invalid_argument("Max string recursion exceeded");
    }
    const std::string_view bytes = text.bytes();
    RETURN_IF_ERROR(runtime_.charge_characters(bytes.size()));
    MarkedText out;
    for (std::size_t pos = 0; pos < bytes.size();) {
      const std::size_t mark = std::min(bytes.find_first_of("{}", pos), bytes.size());
      out.append(text, pos, mark);
      if (mark == bytes.size()) {
        break;
      }
      if (mark + 1 < bytes.size() && bytes[mark + 1] == bytes[mark]) {
        out.append(text, mark, mark + 1);
        pos = mark + 2;
        continue;
      }
      if (bytes[mark] == '}') {
        return invalid_argument("Single '}' encountered in format string");
      }
      std::size_t end = mark + 1;
      for (int open = 1; open > 0; ++end) {
        if (end >= bytes.size()) {
          return invalid_argument("expected '}' before end of string");
        }
        open += bytes[end] == '{' ? 1 : (bytes[end] == '}' ? -1 : 0);
      }
      ASSIGN_OR_RETURN(const MarkedText shown, field(text.slice(mark + 1, end - 1), depth));
      out.append(shown);
      if (out.overflowed()) {
        return text_overflow();
      }
      RETURN_IF_ERROR(runtime_.charge_characters(shown.size()));
      pos = end;
    }
    return out;
  }

  Result<MarkedText> field(const MarkedText& text, int depth) {
    RETURN_IF_ERROR(runtime_.charge(kStepsAConversion));
    const std::string_view bytes = text.bytes();
    const std::size_t name_end = std::min(bytes.find_first_of("!:"), bytes.size());
    ASSIGN_OR_RETURN(Value value, find(bytes.substr(0, name_end)));
    std::size_t pos = name_end;
    if (pos < bytes.size() && bytes[pos] == '!') {
      const char conversion = pos + 1 < bytes.size() ? bytes[pos + 1] : '\0';
      if (conversion != 'r' && conversion != 's' && conversion != 'a') {
        return invalid_argument("unknown conversion specifier in a format string");
      }
      MarkedText converted;
      if (conversion == 's') {
        append_str(converted, value);
      } else {
        append_repr(converted, value);
      }
      if (converted.overflowed()) {
        return text_overflow();
      }
      RETURN_IF_ERROR(runtime_.charge_characters(converted.size()));
      value = Value::text(std::move(converted));
      pos += 2;
    }
    if (pos < bytes.size() && bytes[pos] != ':') {
      return invalid_argument("expected ':' after conversion specifier");
    }
    ASSIGN_OR_RETURN(
        const MarkedText spec,
        format(text.slice(std::min(pos + 1, bytes.size()), bytes.size()), depth - 1)
    );
    return format_value(runtime_, value, spec.bytes());
  }

  Result<Value> find(std::string_view name) {
    const std::size_t first_end = std::min(name.find_first_of(".["), name.size());
    ASSIGN_OR_RETURN(Value value, argument(name.substr(0, first_end)));
    for (std::size_t pos = first_end; pos < name.size();) {
      if (name[pos] == '.') {
        const std::size_t end = std::min(name.find_first_of(".[", pos + 1), name.size());
        ASSIGN_OR_RETURN(
            value, get_attribute(runtime_, value, name.substr(pos + 1, end - pos - 1))
        );
        pos = end;
        continue;
      }
      const std::size_t end = name.find(']', pos);
      if (name[pos] != '[' || end == std::string_view::npos) {
        return invalid_argument("a format field's brackets do not match");
      }
      const std::string_view key = name.substr(pos + 1, end - pos - 1);
      bool overflowed = false;
      const std::optional<Int> index = parse_int(key, 10, overflowed);
      const Value item =
          index && !overflowed ? Value::integer(*index) : Value::text(std::string(key));
      RETURN_IF_ERROR(runtime_.charge(1));
      ASSIGN_OR_RETURN(value, get_item(runtime_, value, item));
      pos = end + 1;
    }
    return value;
  }

  Result<Value> argument(std::string_view name) {
    bool overflowed = false;
    const std::optional<Int> index = parse_int(name, 10, overflowed);
    if (name.empty() || (index && !overflowed)) {
      const auto place = name.empty() ? num_automatic_++ : static_cast<std::size_t>(*index);
      if (place >= arguments_.positional.size()) {
        return invalid_argument(
            "Replacement index " + std::to_string(place) + " out of range for positional args tuple"
        );
      }
      return arguments_.positional[place];
    }
    RETURN_IF_ERROR(runtime_.charge(arguments_.keywords.size() / kVariablesAStep));
    for (const auto& [keyword, value] : arguments_.keywords) {
      if (keyword == name) {
        return value;
      }
    }
    return invalid_argument("format() got no argument '" + shortened(name) + "'");
  }

  Runtime& runtime_;
  const MarkedText& text_;
  const Arguments& arguments_;
  std::size_t num_automatic_ = 0;
};

}  // namespace

Result<Value> brace_format(Runtime& runtime, const MarkedText& text, const Arguments& arguments) {
  ASSIGN_OR_RETURN(MarkedText out, BraceFormatter(runtime, text, arguments).run());
  return Value::text(std::move(out));
}

}  // namespace rapt::jinja
