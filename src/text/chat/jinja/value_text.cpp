#include <cstdio>

#include "text/chat/jinja/callable_internal.h"
#include "text/chat/jinja/loop_state_internal.h"
#include "text/chat/jinja/unicode_internal.h"
#include "text/chat/jinja/value_text_internal.h"

namespace rapt::jinja {

namespace {

// Namespaces may hold each other; everything else is bounded by kMaxValueDepth.
constexpr int kMaxReprDepth = 2 * kMaxValueDepth;

std::string escaped_code_point(std::uint32_t code_point) {
  char text[16];
  const char* format =
      code_point < 0x100 ? "\\x%02x" : (code_point < 0x10000 ? "\\u%04x" : "\\U%08x");
  std::snprintf(text, sizeof(text), format, static_cast<unsigned>(code_point));
  return text;
}

std::string escape_of(std::uint32_t code_point, char quote) {
  switch (code_point) {
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (code_point == static_cast<std::uint32_t>(quote)) {
    return std::string("\\") + quote;
  }
  return is_printable(code_point) ? "" : escaped_code_point(code_point);
}

void append_quoted(MarkedText& out, const MarkedText& text) {
  const std::string& bytes = text.bytes();
  const bool has_apostrophe = bytes.find('\'') != std::string::npos;
  const char quote = has_apostrophe && bytes.find('"') == std::string::npos ? '"' : '\'';
  out.append(std::string_view(&quote, 1), Origin::kTemplate);
  for (std::size_t pos = 0; pos < bytes.size();) {
    const CodePoint c = code_point_at(bytes, pos);
    const std::string escape = escape_of(c.value, quote);
    if (escape.empty()) {
      out.append(text, pos, pos + c.num_bytes);
    } else {
      out.append(escape, text.origin_at(pos));
    }
    pos += c.num_bytes;
  }
  out.append(std::string_view(&quote, 1), Origin::kTemplate);
}

class Writer {
 public:
  explicit Writer(MarkedText& out) : out_(out) {}

  void repr(const Value& value, int depth) {
    if (depth > kMaxReprDepth) {
      plain("...");
      return;
    }
    switch (value.kind()) {
      case Kind::kUndefined:
        return plain("Undefined");
      case Kind::kNone:
        return plain("None");
      case Kind::kBool:
        return plain(value.as_bool() ? "True" : "False");
      case Kind::kInt:
        return plain(int_text(value.as_int()));
      case Kind::kFloat:
        return plain(float_text(value.as_double()));
      case Kind::kText:
        return append_quoted(out_, value.as_text());
      case Kind::kSequence:
        return sequence(value.as_sequence(), depth);
      case Kind::kDict:
        return dict(value.as_dict(), depth);
      case Kind::kIterator:
        return plain("<generator object>");
      case Kind::kNamespace:
        return name_space(value.as_namespace(), depth);
      case Kind::kLoop:
        return plain("<LoopContext " + int_text(value.as_loop().index0() + 1) + ">");
      case Kind::kCallable:
        return plain("<" + value.as_callable().type_name() + ">");
    }
  }

 private:
  void plain(std::string_view text) { out_.append(text, Origin::kTemplate); }

  void items(
      const std::vector<Value>& items, std::string_view open, std::string_view close, int depth
  ) {
    plain(open);
    for (std::size_t i = 0; i < items.size(); ++i) {
      plain(i == 0 ? "" : ", ");
      repr(items[i], depth + 1);
    }
    plain(close);
  }

  void sequence(const Sequence& sequence, int depth) {
    switch (sequence.type) {
      case SequenceType::kList:
        return items(sequence.items, "[", "]", depth);
      case SequenceType::kTuple:
        return items(sequence.items, "(", sequence.items.size() == 1 ? ",)" : ")", depth);
      case SequenceType::kRange:
        plain("range(" + int_text(sequence.range_start) + ", " + int_text(sequence.range_stop));
        return plain(sequence.range_step == 1 ? ")" : ", " + int_text(sequence.range_step) + ")");
      case SequenceType::kKeys:
        return items(sequence.items, "dict_keys([", "])", depth);
      case SequenceType::kValues:
        return items(sequence.items, "dict_values([", "])", depth);
      case SequenceType::kItems:
        return items(sequence.items, "dict_items([", "])", depth);
    }
  }

  void dict(const Dict& dict, int depth) {
    plain("{");
    bool is_first = true;
    for (const auto& [key, value] : dict.entries()) {
      plain(is_first ? "" : ", ");
      is_first = false;
      repr(key, depth + 1);
      plain(": ");
      repr(value, depth + 1);
    }
    plain("}");
  }

  void name_space(const Namespace& space, int depth) {
    plain("<Namespace {");
    bool is_first = true;
    for (const auto& [name, value] : space.attributes()) {
      plain(is_first ? "" : ", ");
      is_first = false;
      append_quoted(out_, MarkedText(name, Origin::kTemplate));
      plain(": ");
      repr(value, depth + 1);
    }
    plain("}>");
  }

  MarkedText& out_;
};

}  // namespace

void append_repr(MarkedText& out, const Value& value) {
  Writer(out).repr(value, 0);
}

void append_str(MarkedText& out, const Value& value) {
  if (value.is_text()) {
    out.append(value.as_text());
  } else if (!value.is_undefined()) {
    append_repr(out, value);
  }
}

MarkedText str_of(const Value& value) {
  if (value.is_text()) {
    return value.as_text();
  }
  MarkedText out;
  append_str(out, value);
  return out;
}

std::string repr_text(const Value& value) {
  MarkedText out;
  append_repr(out, value);
  return out.bytes();
}

}  // namespace rapt::jinja
