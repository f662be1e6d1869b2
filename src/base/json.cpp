#include "base/json.h"

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <exception>

namespace rapt {

namespace {

bool all_numbers_finite(const json::value& value) {
  switch (value.kind()) {
    case json::kind::double_:
      return std::isfinite(value.get_double());
    case json::kind::array:
      for (const json::value& item : value.get_array()) {
        if (!all_numbers_finite(item)) {
          return false;
        }
      }
      return true;
    case json::kind::object:
      for (const auto& member : value.get_object()) {
        if (!all_numbers_finite(member.value())) {
          return false;
        }
      }
      return true;
    default:
      return true;
  }
}

// Builds the value that json::parser would, but with exact doubles: Boost's own conversion is one
// bit off for many numbers of more than 15 digits.
class ValueBuilder {
 public:
  using Status = boost::system::error_code;

  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  ValueBuilder() { values_.reset(); }

  json::value release() { return values_.release(); }

  bool on_document_begin(Status&) { return true; }

  bool on_document_end(Status&) { return true; }

  bool on_object_begin(Status&) { return true; }

  bool on_object_end(std::size_t size, Status&) {
    values_.push_object(size);
    return true;
  }

  bool on_array_begin(Status&) { return true; }

  bool on_array_end(std::size_t size, Status&) {
    values_.push_array(size);
    return true;
  }

  bool on_key_part(std::string_view part, std::size_t, Status&) {
    values_.push_chars(part);
    return true;
  }

  bool on_key(std::string_view rest, std::size_t, Status&) {
    values_.push_key(rest);
    return true;
  }

  bool on_string_part(std::string_view part, std::size_t, Status&) {
    values_.push_chars(part);
    return true;
  }

  bool on_string(std::string_view rest, std::size_t, Status&) {
    values_.push_string(rest);
    return true;
  }

  bool on_number_part(std::string_view part, Status&) {
    number_ += part;
    return true;
  }

  bool on_int64(std::int64_t number, std::string_view, Status&) {
    number_.clear();
    values_.push_int64(number);
    return true;
  }

  bool on_uint64(std::uint64_t number, std::string_view, Status&) {
    number_.clear();
    values_.push_uint64(number);
    return true;
  }

  bool on_double(double rounded, std::string_view rest, Status&) {
    number_ += rest;
    double exact = rounded;
    const char* end = number_.data() + number_.size();
    // Out of range, `rounded` is the infinity or the zero that it should be.
    if (std::from_chars(number_.data(), end, exact).ec != std::errc()) {
      exact = rounded;
    }
    number_.clear();
    values_.push_double(exact);
    return true;
  }

  bool on_bool(bool value, Status&) {
    values_.push_bool(value);
    return true;
  }

  bool on_null(Status&) {
    values_.push_null();
    return true;
  }

  bool on_comment_part(std::string_view, Status&) { return true; }

  bool on_comment(std::string_view, Status&) { return true; }

 private:
  json::value_stack values_;
  std::string number_;  // what has come of it
};

template <typename Number>
void append_number(std::string& out, Number number) {
  std::array<char, 32> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), end);
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::string_view what, int max_depth) {
  try {
    json::parse_options options;
    options.max_depth = static_cast<std::size_t>(max_depth);
    json::basic_parser<ValueBuilder> parser(options);
    boost::system::error_code status;
    std::size_t offset = parser.write_some(false, text.data(), text.size(), status);
    if (!status && offset < text.size()) {
      const std::size_t rest = text.find_first_not_of(" \t\r\n", offset);
      if (rest != std::string_view::npos) {
        offset = rest;
        status = json::error::extra_data;
      }
    }
    if (status) {
      return invalid_argument(
          std::string(what) + " is not valid JSON: " + status.message() + " at byte " +
          std::to_string(offset)
      );
    }
    json::value value = parser.handler().release();
    if (!all_numbers_finite(value)) {
      return invalid_argument(
          std::string(what) + " holds a number that is too large for a 64-bit float"
      );
    }
    return value;
  } catch (const std::exception& e) {
    // release() of a text that ends early throws, and so does memory exhaustion.
    return invalid_argument(std::string(what) + " is not valid JSON: it ends too early");
  }
}

void append_json_string(std::string& out, std::string_view utf8) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (byte < 0x20) {
          out += "\\u00";
          out += kHex[byte >> 4];
          out += kHex[byte & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_json_text(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      return;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case json::kind::int64:
      append_number(out, value.get_int64());
      return;
    case json::kind::uint64:
      append_number(out, value.get_uint64());
      return;
    case json::kind::double_:
      if (std::isfinite(value.get_double())) {
        append_number(out, value.get_double());
      } else {
        out += "null";
      }
      return;
    case json::kind::string:
      append_json_string(out, value.get_string());
      return;
    case json::kind::array: {
      out += '[';
      bool first = true;
      for (const json::value& item : value.get_array()) {
        if (!first) {
          out += ',';
        }
        first = false;
        append_json_text(out, item);
      }
      out += ']';
      return;
    }
    case json::kind::object: {
      out += '{';
      bool first = true;
      for (const auto& member : value.get_object()) {
        if (!first) {
          out += ',';
        }
        first = false;
        append_json_string(out, member.key());
        out += ':';
        append_json_text(out, member.value());
      }
      out += '}';
      return;
    }
  }
}

std::string to_json_text(const json::value& value) {
  std::string out;
  append_json_text(out, value);
  return out;
}

std::string_view json_kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "an integer";
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "nothing";
}

}  // namespace rapt
