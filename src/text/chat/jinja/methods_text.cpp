#include <algorithm>

#include "text/chat/jinja/access_internal.h"
#include "text/chat/jinja/brace_format_internal.h"
#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_operations_internal.h"
#include "text/chat/jinja/text_search_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// Methods of strings that make something of them.

namespace rapt::jinja {

namespace {

const MarkedText& self_of(const Call& call) {
  return call.self.as_text();
}

Result<Value> texts(Result<std::vector<MarkedText>> parts) {
  if (!parts) {
    return parts.error();
  }
  std::vector<Value> items;
  items.reserve(parts->size());
  for (MarkedText& part : *parts) {
    items.push_back(Value::text(std::move(part)));
  }
  return Value::list(std::move(items));
}

// The text itself, charged for each of its characters.
Result<const MarkedText*> characters_of(const Call& call) {
  RETURN_IF_ERROR(call.runtime.charge_characters(self_of(call).size()));
  return &self_of(call);
}

Result<Value> strip_sides(const Call& call, bool left, bool right) {
  RETURN_IF_ERROR(call.runtime.charge_reading(self_of(call).size()));
  if (!call.has(0) || call[0].is_none()) {
    return Value::text(strip(self_of(call), std::nullopt, left, right));
  }
  ASSIGN_OR_RETURN(const MarkedText chars, call.text(0, ""));
  RETURN_IF_ERROR(call.runtime.charge_characters(chars.size()));
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
    return texts(split_words(call.runtime, self_of(call), max_cuts, from_right));
  }
  ASSIGN_OR_RETURN(const MarkedText separator, call.text(0, ""));
  if (separator.empty()) {
    return invalid_argument("empty separator");
  }
  return texts(split(call.runtime, self_of(call), separator.bytes(), max_cuts, from_right));
}

Result<Value> method_split(const Call& call) {
  return split_from(call, false);
}

Result<Value> method_rsplit(const Call& call) {
  return split_from(call, true);
}

Result<Value> method_splitlines(const Call& call) {
  return texts(split_lines(call.runtime, self_of(call), call.truth(0, false)));
}

Result<Value> partition_from(const Call& call, bool from_right) {
  ASSIGN_OR_RETURN(const MarkedText separator, call.text(0, ""));
  if (separator.empty()) {
    return invalid_argument("empty separator");
  }
  const MarkedText& self = self_of(call);
  const std::string& bytes = self.bytes();
  RETURN_IF_ERROR(call.runtime.charge_search(bytes, separator.bytes()));
  const std::size_t found = from_right ? BackwardSearch(bytes, separator.bytes()).find(bytes.size())
                                       : find_text(bytes, separator.bytes());
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
  RETURN_IF_ERROR(call.runtime.charge_search(self_of(call).bytes(), old.bytes()));
  return Value::text(replace(self_of(call), old.bytes(), replacement, count));
}

Result<Value> method_removeprefix(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText prefix, call.text(0, ""));
  RETURN_IF_ERROR(call.runtime.charge_reading(prefix.size()));
  const bool has_it = self_of(call).bytes().starts_with(prefix.bytes());
  return Value::text(self_of(call).slice(has_it ? prefix.size() : 0, self_of(call).size()));
}

Result<Value> method_removesuffix(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText suffix, call.text(0, ""));
  RETURN_IF_ERROR(call.runtime.charge_reading(suffix.size()));
  const bool has_it = self_of(call).bytes().ends_with(suffix.bytes());
  return Value::text(self_of(call).slice(0, self_of(call).size() - (has_it ? suffix.size() : 0)));
}

Result<Value> method_join(const Call& call) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, items_of(call.runtime, call[0]));
  MarkedText out;
  for (std::size_t idx = 0; idx < items.size(); ++idx) {
    if (!items[idx].is_text()) {
      return invalid_argument(
          "sequence item " + std::to_string(idx) + ": expected str instance, " +
          items[idx].type_name() + " found"
      );
    }
    if (idx > 0) {
      out.append(self_of(call));
    }
    out.append(items[idx].as_text());
  }
  return Value::text(std::move(out));
}

Result<Value> method_upper(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText* const text, characters_of(call));
  return Value::text(to_case(*text, Case::kUpper));
}

Result<Value> method_lower(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText* const text, characters_of(call));
  return Value::text(to_case(*text, Case::kLower));
}

Result<Value> method_casefold(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText* const text, characters_of(call));
  return Value::text(to_case(*text, Case::kFold));
}

Result<Value> method_swapcase(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText* const text, characters_of(call));
  return Value::text(with_cases(*text, [](const CodePoint& c) -> std::optional<Case> {
    if (is_upper(c.value)) {
      return Case::kLower;
    }
    return is_lower(c.value) ? std::optional<Case>(Case::kUpper) : std::nullopt;
  }));
}

Result<Value> method_title(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText* const text, characters_of(call));
  return Value::text(title_words(*text));
}

Result<Value> method_capitalize(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText* const text, characters_of(call));
  return Value::text(capitalize(*text));
}

Result<Value> padded(const Call& call, Align align) {
  ASSIGN_OR_RETURN(const Int width, call.integer(0, 0));
  ASSIGN_OR_RETURN(const MarkedText fill, call.text(1, " "));
  RETURN_IF_ERROR(call.runtime.charge_reading(self_of(call).size() + fill.size()));
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
  ASSIGN_OR_RETURN(const MarkedText* const text, characters_of(call));
  const MarkedText& self = *text;
  MarkedText out;
  Int column = 0;
  for (std::size_t pos = 0; pos < self.size() && !out.overflowed();) {
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
  return brace_format(call.runtime, self_of(call), call.rest);
}

Result<Value> method_format_map(const Call& call) {
  Arguments arguments;
  if (!call[0].is(Kind::kDict)) {
    return invalid_argument("format_map() takes a dict");
  }
  RETURN_IF_ERROR(call.runtime.charge(kStepsAnEntry * call[0].as_dict().entries().size()));
  for (const auto& [key, value] : call[0].as_dict().entries()) {
    ASSIGN_OR_RETURN(const MarkedText name, str_of(call.runtime, key));
    RETURN_IF_ERROR(call.runtime.charge_characters(name.size()));
    arguments.keywords.emplace_back(name.bytes(), value);
  }
  return brace_format(call.runtime, self_of(call), arguments);
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
