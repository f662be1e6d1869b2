#include <cstdio>

#include "text/chat/jinja/callable_internal.h"
#include "text/chat/jinja/loop_state_internal.h"
#include "text/chat/jinja/runtime_internal.h"
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
  const bool is_plain_ascii = code_point >= ' ' && code_point < 0x7F && code_point != '\\' &&
                              code_point != static_cast<std::uint32_t>(quote);
  if (is_plain_ascii) {
    return "";
  }
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
  std::size_t begin = 0;  // of what is shown as it is
  for (std::size_t pos = 0; pos < bytes.size() && !out.overflowed();) {
    const CodePoint c = code_point_at(bytes, pos);
    const std::string escape = escape_of(c.value, quote);
    if (!escape.empty()) {
      out.append(text, begin, pos);
      out.append(escape, text.origin_at(pos));
      begin = pos + c.num_bytes;
    }
    pos += c.num_bytes;
  }
  out.append(text, begin);
  out.append(std::string_view(&quote, 1), Origin::kTemplate);
}

class Writer {
 public:
  // Ends soon after `max_bytes` of output.
  explicit Writer(MarkedText& out, std::size_t max_bytes = MarkedText::kMaxBytes)
      : out_(out), max_bytes_(max_bytes) {}

  void repr(const Value& value, int depth) {
    // Lists that are in each other twice at every level would take for ever.
    if (is_full()) {
      return;
    }
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
        return text(value.as_text());
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

  void text(const MarkedText& text) {
    if (text.size() <= max_bytes_) {
      append_quoted(out_, text);
    } else {
      append_quoted(out_, text.slice(0, byte_offset(text.bytes(), max_bytes_)));
    }
  }

  void items(
      const std::vector<Value>& items, std::string_view open, std::string_view close, int depth
  ) {
    plain(open);
    for (std::size_t i = 0; i < items.size() && !is_full(); ++i) {
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
      if (is_full()) {
        return;
      }
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
    for (const auto& [name, value] : space.attributes().entries()) {
      if (is_full()) {
        return;
      }
      plain(is_first ? "" : ", ");
      is_first = false;
      append_quoted(out_, name.as_text());
      plain(": ");
      repr(value, depth + 1);
    }
    plain("}>");
  }

  bool is_full() const { return out_.overflowed() || out_.size() > max_bytes_; }

  MarkedText& out_;
  std::size_t max_bytes_;
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

Result<MarkedText> str_of(Runtime& runtime, const Value& value) {
  if (value.is_text()) {
    RETURN_IF_ERROR(runtime.charge_reading(value.as_bytes().size()));
    return value.as_text();
  }
  MarkedText out;
  append_str(out, value);
  if (out.overflowed()) {
    return text_overflow();
  }
  RETURN_IF_ERROR(runtime.charge_characters(out.size()));
  return out;
}

std::string repr_text(const Value& value) {
  constexpr std::size_t kEnough = 400;
  MarkedText out;
  Writer(out, kEnough).repr(value, 0);
  return shortened(out.bytes());
}

std::string shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return std::string(text);
  }
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace rapt::jinja
