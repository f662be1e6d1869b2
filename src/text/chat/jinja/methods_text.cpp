#include <algorithm>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/brace_format_internal.h"
#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/text_operations_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// Methods of strings that make something of them.

namespace rapt::jinja {

namespace {

const MarkedText& self_of(const Call& call) {
  return call.self.as_text();
}

Value texts(std::vector<MarkedText> parts) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (MarkedText& part : parts) {
    items.push_back(Value::text(std::move(part)));
  }
  return Value::list(std::move(items));
}

Result<Value> strip_sides(const Call& call, bool left, bool right) {
  if (!call.has(0) || call[0].is_none()) {
    return Value::text(strip(self_of(call), std::nullopt, left, right));
  }
  ASSIGN_OR_RETURN(const MarkedText chars, call.text(0, ""));
  return Value::text(strip(self_of(call), chars.bytes(), left, right));
}

Result<Value> method_strip(const Call& call) {
  return strip_sides(call, true, true);
}

Result<Value> method_lstrip(const Call& call) {
  return strip_sides(call, true, false);
}

Result<Value> method_rstrip(const Call& call) {
  return strip_sides(call, false, true);
}

Result<Value> split_from(const Call& call, bool from_right) {
  ASSIGN_OR_RETURN(const Int max_cuts, call.integer(1, -1));
  if (!call.has(0) || call[0].is_none()) {
    return texts(split_words(self_of(call), max_cuts, from_right));
  }
  ASSIGN_OR_RETURN(const MarkedText separator, call.text(0, ""));
  if (separator.empty()) {
    return invalid_argument("empty separator");
  }
  return texts(split(self_of(call), separator.bytes(), max_cuts, from_right));
}

Result<Value> method_split(const Call& call) {
  return split_from(call, false);
}

Result<Value> method_rsplit(const Call& call) {
  return split_from(call, true);
}

Result<Value> method_splitlines(const Call& call) {
  return texts(split_lines(self_of(call), call.truth(0, false)));
}

Result<Value> partition_from(const Call& call, bool from_right) {
  ASSIGN_OR_RETURN(const MarkedText separator, call.text(0, ""));
  if (separator.empty()) {
    return invalid_argument("empty separator");
  }
  const MarkedText& self = self_of(call);
  const std::string& bytes = self.bytes();
  const std::size_t found =
      from_right ? bytes.rfind(separator.bytes()) : bytes.find(separator.bytes());
  if (found == std::string::npos) {
    const Value none = Value::text("");
    return from_right ? Value::tuple({none, none, call.self})
                      : Value::tuple({call.self, none, none});
  }
  const std::size_t end = found + separator.size();
  return Value::tuple(
      {Value::text(self.slice(0, found)),
       Value::text(self.slice(found, end)),
       Value::text(self.slice(end, bytes.size()))}
  );
}

Result<Value> method_partition(const Call& call) {
  return partition_from(call, false);
}

Result<Value> method_rpartition(const Call& call) {
  return partition_from(call, true);
}

Result<Value> method_replace(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText old, call.text(0, ""));
  ASSIGN_OR_RETURN(const MarkedText replacement, call.text(1, ""));
  ASSIGN_OR_RETURN(const Int count, call.integer(2, -1));
  return Value::text(replace(self_of(call), old.bytes(), replacement, count));
}

Result<Value> method_removeprefix(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText prefix, call.text(0, ""));
  const bool has_it = self_of(call).bytes().starts_with(prefix.bytes());
  return Value::text(self_of(call).slice(has_it ? prefix.size() : 0, self_of(call).size()));
}

Result<Value> method_removesuffix(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText suffix, call.text(0, ""));
  const bool has_it = self_of(call).bytes().ends_with(suffix.bytes());
  return Value::text(self_of(call).slice(0, self_of(call).size() - (has_it ? suffix.size() : 0)));
}

Result<Value> method_join(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call[0]));
  std::vector<MarkedText> parts;
  for (const Value& item : items) {
    if (!item.is_text()) {
      return invalid_argument(
          "sequence item " + std::to_string(parts.size()) + ": expected str instance, " +
          item.type_name() + " found"
      );
    }
    parts.push_back(item.as_text());
  }
  return Value::text(join(parts, self_of(call)));
}

Result<Value> method_upper(const Call& call) {
  return Value::text(to_case(self_of(call), Case::kUpper));
}

Result<Value> method_lower(const Call& call) {
  return Value::text(to_case(self_of(call), Case::kLower));
}

Result<Value> method_casefold(const Call& call) {
  return Value::text(to_case(self_of(call), Case::kFold));
}

Result<Value> method_swapcase(const Call& call) {
  return Value::text(with_cases(self_of(call), [](const CodePoint& c) -> std::optional<Case> {
    if (is_upper(c.value)) {
      return Case::kLower;
    }
    return is_lower(c.value) ? std::optional<Case>(Case::kUpper) : std::nullopt;
  }));
}

Result<Value> method_title(const Call& call) {
  return Value::text(title_words(self_of(call)));
}

Result<Value> method_capitalize(const Call& call) {
  return Value::text(capitalize(self_of(call)));
}

Result<Value> padded(const Call& call, Align align) {
  ASSIGN_OR_RETURN(const Int width, call.integer(0, 0));
  ASSIGN_OR_RETURN(const MarkedText fill, call.text(1, " "));
  if (num_code_points(fill.bytes()) != 1) {
    return invalid_argument("The fill character must be exactly one character long");
  }
  return Value::text(pad(self_of(call), width, fill.bytes(), align));
}

Result<Value> method_center(const Call& call) {
  return padded(call, Align::kCenter);
}

Result<Value> method_ljust(const Call& call) {
  return padded(call, Align::kLeft);
}

Result<Value> method_rjust(const Call& call) {
  return padded(call, Align::kRight);
}

Result<Value> method_zfill(const Call& call) {
  ASSIGN_OR_RETURN(const Int width, call.integer(0, 0));
  const MarkedText& self = self_of(call);
  const bool has_sign = self.bytes().starts_with('-') || self.bytes().starts_with('+');
  MarkedText out = self.slice(0, has_sign ? 1 : 0);
  out.append(
      pad(self.slice(has_sign ? 1 : 0, self.size()), width - (has_sign ? 1 : 0), "0", Align::kRight)
  );
  return Value::text(std::move(out));
}

Result<Value> method_expandtabs(const Call& call) {
  ASSIGN_OR_RETURN(const Int tab_size, call.integer(0, 8));
  const MarkedText& self = self_of(call);
  MarkedText out;
  Int column = 0;
  for (std::size_t pos = 0; pos < self.size();) {
    const CodePoint c = code_point_at(self.bytes(), pos);
    if (c.value == '\t') {
      const Int count = tab_size > 0 ? tab_size - column % tab_size : 0;
      out.append(pad({}, count, " ", Align::kLeft));
      column += count;
    } else {
      out.append(self, pos, pos + c.num_bytes);
      column = c.value == '\n' || c.value == '\r' ? 0 : column + 1;
    }
    pos += c.num_bytes;
  }
  return Value::text(std::move(out));
}

Result<Value> method_format(const Call& call) {
  return brace_format(self_of(call), call.rest);
}

Result<Value> method_format_map(const Call& call) {
  Arguments arguments;
  if (!call[0].is(Kind::kDict)) {
    return invalid_argument("format_map() takes a dict");
  }
  for (const auto& [key, value] : call[0].as_dict().entries()) {
    arguments.keywords.emplace_back(str_of(key).bytes(), value);
  }
  return brace_format(self_of(call), arguments);
}

constexpr Builtin kMethods[] = {
    {"strip", "chars?", method_strip},
    {"lstrip", "chars?", method_lstrip},
    {"rstrip", "chars?", method_rstrip},
    {"split", "sep? maxsplit?", method_split},
    {"rsplit", "sep? maxsplit?", method_rsplit},
    {"splitlines", "keepends?", method_splitlines},
    {"partition", "sep", method_partition},
    {"rpartition", "sep", method_rpartition},
    {"replace", "old new count?", method_replace},
    {"removeprefix", "prefix", method_removeprefix},
    {"removesuffix", "suffix", method_removesuffix},
    {"join", "iterable", method_join},
    {"upper", "", method_upper},
    {"lower", "", method_lower},
    {"casefold", "", method_casefold},
    {"swapcase", "", method_swapcase},
    {"title", "", method_title},
    {"capitalize", "", method_capitalize},
    {"center", "width fillchar?", method_center},
    {"ljust", "width fillchar?", method_ljust},
    {"rjust", "width fillchar?", method_rjust},
    {"zfill", "width", method_zfill},
    {"expandtabs", "tabsize?", method_expandtabs},
    {"format", "*", method_format},
    {"format_map", "mapping", method_format_map},
};

}  // namespace

std::span<const Builtin> text_methods() {
  return kMethods;
}

}  // namespace rapt::jinja
