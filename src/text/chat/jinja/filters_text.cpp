#include "text/chat/jinja/builtin_tables_internal.h"
#include "text/chat/jinja/json_text_internal.h"
#include "text/chat/jinja/percent_format_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_operations_internal.h"
#include "text/chat/jinja/value_text_internal.h"

// Filters that make text.

namespace rapt::jinja {

namespace {

// What is filtered as a text, charged for each of its characters.
Result<MarkedText> characters_of(const Call& call) {
  ASSIGN_OR_RETURN(MarkedText text, str_of(call.runtime, call.self));
  RETURN_IF_ERROR(call.runtime.charge_characters(text.size()));
  return text;
}

Result<Value> filter_string(const Call& call) {
  ASSIGN_OR_RETURN(MarkedText text, str_of(call.runtime, call.self));
  return Value::text(std::move(text));
}

Result<Value> filter_upper(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, characters_of(call));
  return Value::text(to_case(text, Case::kUpper));
}

Result<Value> filter_lower(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, characters_of(call));
  return Value::text(to_case(text, Case::kLower));
}

Result<Value> filter_capitalize(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, characters_of(call));
  return Value::text(capitalize(text));
}

// Not as str.title(): words begin behind white space, hyphens and opening brackets only.
Result<Value> filter_title(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, characters_of(call));
  bool is_inside = false;
  return Value::text(with_cases(text, [&is_inside](const CodePoint& c) {
    const Case wanted = is_inside ? Case::kLower : Case::kUpper;
    is_inside = !is_space(c.value) && std::string_view("-({[<").find(static_cast<char>(c.value)) ==
                                          std::string_view::npos;
    is_inside = is_inside || c.value > 0x7F;
    return wanted;
  }));
}

Result<Value> filter_trim(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, str_of(call.runtime, call.self));
  if (!call.has(0) || call[0].is_none()) {
    return Value::text(strip(text, std::nullopt, true, true));
  }
  ASSIGN_OR_RETURN(const MarkedText chars, call.text(0, ""));
  RETURN_IF_ERROR(call.runtime.charge_characters(chars.size()));
  return Value::text(strip(text, chars.bytes(), true, true));
}

Result<Value> filter_replace(const Call& call) {
  ASSIGN_OR_RETURN(const Int count, call.integer(2, -1));
  ASSIGN_OR_RETURN(const MarkedText text, str_of(call.runtime, call.self));
  ASSIGN_OR_RETURN(const MarkedText old, str_of(call.runtime, call[0]));
  ASSIGN_OR_RETURN(const MarkedText replacement, str_of(call.runtime, call[1]));
  RETURN_IF_ERROR(call.runtime.charge_search(text.bytes(), old.bytes()));
  return Value::text(replace(text, old.bytes(), replacement, count));
}

Result<Value> filter_center(const Call& call) {
  ASSIGN_OR_RETURN(const Int width, call.integer(0, 80));
  ASSIGN_OR_RETURN(const MarkedText text, str_of(call.runtime, call.self));
  return Value::text(pad(text, width, " ", Align::kCenter));
}

// Every line but the first is indented, and empty ones only if `blank` says so.
Result<Value> filter_indent(const Call& call) {
  if (!call.self.is_text()) {
    return invalid_argument(
        call.self.is_undefined() ? call.self.undefined_message()
                                 : "indent() works on a string, not on a " + call.self.type_name()
    );
  }
  MarkedText indention;
  if (call.has(0) && call[0].is_text()) {
    indention = call[0].as_text();
  } else {
    ASSIGN_OR_RETURN(const Int width, call.integer(0, 4));
    indention = pad({}, width, " ", Align::kLeft);
  }
  const bool indents_blank = call.truth(2, false);
  MarkedText text = call.self.as_text();
  text.append("\n", Origin::kTemplate);
  MarkedText out;
  if (call.truth(1, false)) {
    out.append(indention);
  }
  ASSIGN_OR_RETURN(const std::vector<MarkedText> lines, split_lines(call.runtime, text, false));
  bool is_first = true;
  for (const MarkedText& line : lines) {
    if (!is_first) {
      out.append("\n", Origin::kTemplate);
      if (indents_blank || !line.empty()) {
        out.append(indention);
      }
    }
    is_first = false;
    out.append(line);
  }
  return Value::text(std::move(out));
}

Result<Value> filter_truncate(const Call& call) {
  constexpr Int kDefaultLength = 255;
  constexpr Int kDefaultLeeway = 5;
  ASSIGN_OR_RETURN(const Int length, call.integer(0, kDefaultLength));
  ASSIGN_OR_RETURN(const MarkedText end, call.text(2, "..."));
  ASSIGN_OR_RETURN(const Int leeway, call.integer(3, kDefaultLeeway));
  ASSIGN_OR_RETURN(const MarkedText text, str_of(call.runtime, call.self));
  const auto end_length = static_cast<Int>(num_code_points(end.bytes()));
  if (length < end_length || leeway < 0) {
    return invalid_argument("truncate() needs a length that leaves room for its end");
  }
  if (static_cast<Int>(num_code_points(text.bytes())) <= length + leeway) {
    return Value::text(text);
  }
  const auto kept = static_cast<std::size_t>(length - end_length);
  MarkedText out = text.slice(0, byte_offset(text.bytes(), kept));
  if (!call.truth(1, false)) {
    ASSIGN_OR_RETURN(std::vector<MarkedText> parts, split(call.runtime, out, " ", 1, true));
    out = std::move(parts[0]);
  }
  out.append(end);
  return Value::text(std::move(out));
}

Result<Value> filter_wordcount(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, characters_of(call));
  Int count = 0;
  bool is_inside = false;
  for (std::size_t pos = 0; pos < text.size();) {
    const CodePoint c = code_point_at(text.bytes(), pos);
    const bool is_word = c.value == '_' || is_alpha(c.value) || is_numeric(c.value);
    count += is_word && !is_inside ? 1 : 0;
    is_inside = is_word;
    pos += c.num_bytes;
  }
  return Value::integer(count);
}

Result<Value> filter_format(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, str_of(call.runtime, call.self));
  if (!call.rest.positional.empty() && !call.rest.keywords.empty()) {
    return invalid_argument("format() takes arguments by place or by name, not both");
  }
  if (call.rest.keywords.empty()) {
    return percent_format(call.runtime, text, Value::tuple(call.rest.positional));
  }
  Dict named;
  RETURN_IF_ERROR(call.runtime.charge(kStepsAnEntry * call.rest.keywords.size()));
  for (const auto& [name, value] : call.rest.keywords) {
    named.put(name, value);
  }
  return percent_format(call.runtime, text, Value::dict(std::move(named)));
}

Result<Value> filter_escape(const Call& call) {
  ASSIGN_OR_RETURN(const MarkedText text, characters_of(call));
  MarkedText out;
  for (std::size_t pos = 0; pos < text.size(); ++pos) {
    constexpr std::string_view kSpecial = "&<>'\"";
    constexpr std::string_view kEscapes[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    const std::size_t which = kSpecial.find(text.bytes()[pos]);
    if (which == std::string_view::npos) {
      out.append(text, pos, pos + 1);
    } else {
      out.append(kEscapes[which], text.origin_at(pos));
    }
  }
  return Value::text(std::move(out));
}

void append_url_quoted(MarkedText& out, const MarkedText& text, bool is_query) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (std::size_t pos = 0; pos < text.size(); ++pos) {
    const auto byte = static_cast<unsigned char>(text.bytes()[pos]);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                          (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '.' ||
                          byte == '-' || byte == '~' || (byte == '/' && !is_query);
    if (is_plain) {
      out.append(text, pos, pos + 1);
    } else if (byte == ' ' && is_query) {
      out.append("+", text.origin_at(pos));
    } else {
      const char escape[] = {'%', kHex[byte >> 4], kHex[byte & 15U]};
      out.append(std::string_view(escape, 3), text.origin_at(pos));
    }
  }
}

Result<Value> filter_urlencode(const Call& call) {
  MarkedText out;
  if (!call.self.is(Kind::kDict)) {
    ASSIGN_OR_RETURN(const MarkedText text, characters_of(call));
    append_url_quoted(out, text, false);
    return Value::text(std::move(out));
  }
  for (const auto& [key, value] : call.self.as_dict().entries()) {
    out.append(out.empty() ? "" : "&", Origin::kTemplate);
    ASSIGN_OR_RETURN(const MarkedText name, str_of(call.runtime, key));
    append_url_quoted(out, name, true);
    out.append("=", Origin::kTemplate);
    ASSIGN_OR_RETURN(const MarkedText text, str_of(call.runtime, value));
    append_url_quoted(out, text, true);
    if (out.overflowed()) {
      return text_overflow();
    }
    RETURN_IF_ERROR(call.runtime.charge_characters(name.size() + text.size()));
  }
  return Value::text(std::move(out));
}

// As Hugging Face's library has it, which shows non-ASCII text as it is.
Result<Value> filter_tojson(const Call& call) {
  JsonStyle style;
  style.ascii_only = call.truth(0, false);
  const bool has_indent = call.has(1) && !call[1].is_none();
  if (has_indent && call[1].is_text()) {
    style.indent = call[1].as_text();
  } else if (has_indent) {
    ASSIGN_OR_RETURN(const Int width, call.integer(1, 0));
    style.indent = pad({}, width, " ", Align::kLeft);
  }
  style.item_separator = MarkedText(has_indent ? "," : ", ", Origin::kTemplate);
  if (call.has(2) && !call[2].is_none()) {
    const bool is_pair = call[2].is(Kind::kSequence) && call[2].as_sequence().items.size() == 2 &&
                         call[2].as_sequence().items[0].is_text() &&
                         call[2].as_sequence().items[1].is_text();
    if (!is_pair) {
      return invalid_argument("tojson()'s separators must be two strings");
    }
    style.item_separator = call[2].as_sequence().items[0].as_text();
    style.key_separator = call[2].as_sequence().items[1].as_text();
  }
  style.sorts_keys = call.truth(3, false);
  return to_json(call.runtime, call.self, style);
}

constexpr Builtin kFilters[] = {
    {"string", "", filter_string},
    {"safe", "", filter_string},
    {"upper", "", filter_upper},
    {"lower", "", filter_lower},
    {"capitalize", "", filter_capitalize},
    {"title", "", filter_title},
    {"trim", "chars?", filter_trim},
    {"replace", "old new count?", filter_replace},
    {"center", "width?", filter_center},
    {"indent", "width? first? blank?", filter_indent},
    {"truncate", "length? killwords? end? leeway?", filter_truncate},
    {"wordcount", "", filter_wordcount},
    {"format", "*", filter_format},
    {"escape", "", filter_escape},
    {"e", "", filter_escape},
    {"forceescape", "", filter_escape},
    {"urlencode", "", filter_urlencode},
    {"tojson", "ensure_ascii? indent? separators? sort_keys?", filter_tojson},
};

}  // namespace

std::span<const Builtin> text_filters() {
  return kFilters;
}

}  // namespace rapt::jinja
