#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "text/chat/jinja/compare_internal.h"
#include "text/chat/jinja/json_text_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/unicode_internal.h"

namespace rapt::jinja {

namespace {

std::string unicode_escape(std::uint32_t unit) {
  char text[16];
  std::snprintf(text, sizeof(text), "\\u%04x", static_cast<unsigned>(unit));
  return text;
}

std::string escape_of(std::uint32_t c, bool ascii_only) {
  const bool is_plain_ascii = c >= ' ' && c < 0x7F && c != '"' && c != '\\';
  if (is_plain_ascii) {
    return "";
  }
  constexpr std::string_view kSpecial = "\"\\\n\r\t\f\b";
  constexpr std::string_view kNames = "\"\\nrtfb";
  const std::size_t which = c < 0x80 ? kSpecial.find(static_cast<char>(c)) : std::string_view::npos;
  if (which != std::string_view::npos) {
    return std::string("\\") + kNames[which];
  }
  if (c < 0x20 || (ascii_only && c > 0x7E && c <= 0xFFFF)) {
    return unicode_escape(c);
  }
  if (ascii_only && c > 0xFFFF) {
    const std::uint32_t rest = c - 0x10000;
    return unicode_escape(0xD800 + (rest >> 10)) + unicode_escape(0xDC00 + (rest & 0x3FFU));
  }
  return "";
}

class Writer {
 public:
  Writer(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  Result<void> write(const Value& value) {
    // Lists that are in each other twice at every level would take for ever.
    if (out_.overflowed()) {
      return text_overflow();
    }
    switch (value.kind()) {
      case Kind::kNone:
        plain("null");
        return {};
      case Kind::kBool:
        plain(value.as_bool() ? "true" : "false");
        return {};
      case Kind::kInt:
        plain(int_text(value.as_int()));
        return {};
      case Kind::kFloat:
        plain(number_text(value.as_double()));
        return {};
      case Kind::kText:
        quoted(value.as_text());
        return {};
      case Kind::kDict:
        return object(value.as_dict());
      case Kind::kSequence:
        if (value.as_sequence().type <= SequenceType::kTuple) {
          return array(value.as_sequence().items);
        }
        break;
      default:
        break;
    }
    return invalid_argument("Object of type " + value.type_name() + " is not JSON serializable");
  }

  Value take() { return Value::text(std::move(out_)); }

 private:
  void plain(std::string_view text) { out_.append(text, Origin::kTemplate); }

  static std::string number_text(double value) {
    if (std::isnan(value)) {
      return "NaN";
    }
    return std::isinf(value) ? (value < 0 ? "-Infinity" : "Infinity") : float_text(value);
  }

  void quoted(const MarkedText& text) {
    plain("\"");
    std::size_t begin = 0;  // of what is written as it is
    for (std::size_t pos = 0; pos < text.size() && !out_.overflowed();) {
      const CodePoint c = code_point_at(text.bytes(), pos);
      const std::string escape = escape_of(c.value, style_.ascii_only);
      if (!escape.empty()) {
        out_.append(text, begin, pos);
        out_.append(escape, text.origin_at(pos));
        begin = pos + c.num_bytes;
      }
      pos += c.num_bytes;
    }
    out_.append(text, begin);
    plain("\"");
  }

  void line_feed() {
    if (style_.indent) {
      plain("\n");
      for (int level = 0; level < depth_; ++level) {
        out_.append(*style_.indent);
      }
    }
  }

  Result<void> array(const std::vector<Value>& items) {
    if (items.empty()) {
      plain("[]");
      return {};
    }
    plain("[");
    ++depth_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) {
        out_.append(style_.item_separator);
      }
      line_feed();
      RETURN_IF_ERROR(write(items[i]));
    }
    --depth_;
    line_feed();
    plain("]");
    return {};
  }

  Result<void> key(const Value& key) {
    if (key.is_text()) {
      quoted(key.as_text());
      return {};
    }
    if (!key.is_number() && !key.is_none()) {
      return invalid_argument("keys must be str, int, float, bool or None, not " + key.type_name());
    }
    plain("\"");
    RETURN_IF_ERROR(write(key));
    plain("\"");
    return {};
  }

  Result<void> object(const Dict& dict) {
    std::vector<const Dict::Entry*> entries;
    entries.reserve(dict.entries().size());
    for (const Dict::Entry& entry : dict.entries()) {
      entries.push_back(&entry);
    }
    if (entries.empty()) {
      plain("{}");
      return {};
    }
    if (style_.sorts_keys) {
      RETURN_IF_ERROR(sort(entries));
    }
    plain("{");
    ++depth_;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) {
        out_.append(style_.item_separator);
      }
      line_feed();
      RETURN_IF_ERROR(key(entries[i]->first));
      out_.append(style_.key_separator);
      RETURN_IF_ERROR(write(entries[i]->second));
    }
    --depth_;
    line_feed();
    plain("}");
    return {};
  }

  Result<void> sort(std::vector<const Dict::Entry*>& entries) {
    // Each key is compared with as many others as the number of keys has bits.
    std::uint64_t weight = 0;
    for (const Dict::Entry* entry : entries) {
      weight = std::min(weight + kValueWeight + entry->first.weight(), kMaxWeight);
    }
    const auto num_bits = static_cast<std::uint64_t>(std::bit_width(entries.size()));
    RETURN_IF_ERROR(runtime_.charge_reading(weight * (1 + num_bits)));
    // Keys of one kind always have an order, and keys of several are refused as Python does.
    const auto has_order = [&](const Dict::Entry* entry) {
      return less(entry->first, entries[0]->first).has_value();
    };
    if (!std::ranges::all_of(entries, has_order)) {
      return invalid_argument("tojson() cannot sort keys of different types");
    }
    std::ranges::stable_sort(entries, [](const Dict::Entry* a, const Dict::Entry* b) {
      const Result<bool> is_less = less(a->first, b->first);
      return is_less && *is_less;
    });
    return {};
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  MarkedText out_;
  int depth_ = 0;
};

}  // namespace

Value value_of(const json::value& json, Origin origin) {
  switch (json.kind()) {
    case json::kind::null:
      return Value::none();
    case json::kind::bool_:
      return Value::boolean(json.get_bool());
    case json::kind::int64:
      return Value::integer(json.get_int64());
    case json::kind::uint64:
      return Value::integer(static_cast<Int>(json.get_uint64()));
    case json::kind::double_:
      return Value::real(json.get_double());
    case json::kind::string:
      return Value::text(std::string(json.get_string()), origin);
    case json::kind::array: {
      std::vector<Value> items;
      for (const json::value& item : json.get_array()) {
        items.push_back(value_of(item, origin));
      }
      return Value::list(std::move(items));
    }
    case json::kind::object: {
      Dict dict;
      for (const auto& [key, value] : json.get_object()) {
        dict.put(std::string(key), value_of(value, origin), origin);
      }
      return Value::dict(std::move(dict));
    }
  }
  return Value::none();
}

Result<Value> to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  Writer writer(runtime, style);
  RETURN_IF_ERROR(writer.write(value));
  return writer.take();
}

}  // namespace rapt::jinja
