#include <cmath>
#include <optional>

#include "text/chat/jinja/number_format_internal.h"
#include "text/chat/jinja/percent_format_internal.h"
#include "text/chat/jinja/runtime_internal.h"
#include "text/chat/jinja/text_operations_internal.h"
#include "text/chat/jinja/value_text_internal.h"

namespace rapt::jinja {

namespace {

bool is_one_character(std::string_view utf8) {
  return !utf8.empty() && code_point_at(utf8, 0).num_bytes == utf8.size();
}

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const MarkedText& text, const Value& argument)
      : runtime_(runtime), text_(text), bytes_(text.bytes()), argument_(argument) {
    is_tuple_ = argument.is(Kind::kSequence) && argument.as_sequence().type == SequenceType::kTuple;
  }

  Result<Value> run() {
    RETURN_IF_ERROR(runtime_.charge_reading(text_.size()));
    while (true) {
      const std::size_t mark = bytes_.find('%', pos_);
      if (mark == std::string_view::npos) {
        break;
      }
      out_.append(text_, pos_, mark);
      pos_ = mark + 1;
      RETURN_IF_ERROR(runtime_.charge(kStepsAConversion));
      RETURN_IF_ERROR(conversion());
      if (out_.overflowed()) {
        return text_overflow();
      }
    }
    out_.append(text_, pos_);
    const bool has_left =
        is_tuple_ ? num_used_ < argument_.as_sequence().items.size()
                  : num_used_ == 0 && !argument_.is(Kind::kDict) && !argument_.is(Kind::kSequence);
    if (has_left) {
      return invalid_argument("not all arguments converted during string formatting");
    }
    return Value::text(std::move(out_));
  }

 private:
  char at(std::size_t pos) const { return pos < bytes_.size() ? bytes_[pos] : '\0'; }

  Result<Value> next_argument() {
    if (named_) {
      return *named_;
    }
    const std::size_t idx = num_used_++;
    if (is_tuple_ && idx < argument_.as_sequence().items.size()) {
      return argument_.as_sequence().items[idx];
    }
    if (!is_tuple_ && idx == 0) {
      return argument_;
    }
    return invalid_argument("not enough arguments for format string");
  }

  Result<void> read_name() {
    named_.reset();
    if (at(pos_) != '(') {
      return {};
    }
    const std::size_t end = bytes_.find(')', pos_);
    if (end == std::string_view::npos) {
      return invalid_argument("incomplete format key");
    }
    if (!argument_.is(Kind::kDict)) {
      return invalid_argument("format requires a mapping");
    }
    const std::string_view name = bytes_.substr(pos_ + 1, end - pos_ - 1);
    const Value* value = argument_.as_dict().find(name);
    if (value == nullptr) {
      return invalid_argument("the format's key '" + shortened(name) + "' is not there");
    }
    named_ = *value;
    pos_ = end + 1;
    return {};
  }

  Result<int> read_number(int max) {
    if (at(pos_) != '*') {
      return read_format_number(bytes_, pos_, max);
    }
    ++pos_;
    ASSIGN_OR_RETURN(const Value value, next_argument());
    if (!value.is_int() || value.as_int() > max || value.as_int() < -max) {
      return invalid_argument("* wants a small integer");
    }
    return static_cast<int>(value.as_int());
  }

  Result<void> conversion() {
    RETURN_IF_ERROR(read_name());
    NumberStyle style;
    bool is_left = false;
    bool has_zero = false;
    for (; std::string_view("-+ #0").find(at(pos_)) != std::string_view::npos && at(pos_) != '\0';
         ++pos_) {
      const char flag = at(pos_);
      is_left = is_left || flag == '-';
      has_zero = has_zero || flag == '0';
      style.is_alternate = style.is_alternate || flag == '#';
      if (flag == '+' || (flag == ' ' && style.sign != '+')) {
        style.sign = flag;
      }
    }
    ASSIGN_OR_RETURN(style.width, read_number(kMaxFormatWidth));
    is_left = is_left || style.width < 0;
    style.width = std::abs(style.width);
    if (at(pos_) == '.') {
      ++pos_;
      ASSIGN_OR_RETURN(style.precision, read_number(kMaxFormatPrecision));
    }
    while (at(pos_) == 'h' || at(pos_) == 'l' || at(pos_) == 'L') {
      ++pos_;
    }
    if (pos_ >= bytes_.size()) {
      return invalid_argument("incomplete format");
    }
    style.type = bytes_[pos_++];
    if (style.type == '%') {
      out_.append("%", text_.origin_at(pos_ - 1));
      return {};
    }
    style.align = is_left ? '<' : (has_zero ? '=' : '>');
    style.fill = has_zero && !is_left ? "0" : " ";
    ASSIGN_OR_RETURN(const Value value, next_argument());
    return convert(value, style);
  }

  Result<void> convert(const Value& value, NumberStyle style) {
    switch (style.type) {
      case 's':
      case 'r':
      case 'a':
        return add_text(value, style);
      case 'c':
        return add_character(value, style);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return add_int(value, style);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return add_float(value, style);
      default:
        return invalid_argument(std::string("unsupported format character '") + style.type + "'");
    }
  }

  Result<void> add_text(const Value& value, const NumberStyle& style) {
    MarkedText shown;
    if (style.type == 's') {
      append_str(shown, value);
    } else {
      append_repr(shown, value);
    }
    if (shown.overflowed()) {
      return text_overflow();
    }
    RETURN_IF_ERROR(runtime_.charge_characters(shown.size()));
    if (style.precision >= 0) {
      const auto kept = static_cast<std::size_t>(style.precision);
      shown = shown.slice(0, byte_offset(shown.bytes(), kept));
    }
    out_.append(pad(shown, style.width, " ", style.align == '<' ? Align::kLeft : Align::kRight));
    return {};
  }

  Result<void> add_character(const Value& value, const NumberStyle& style) {
    MarkedText character;
    if (value.is_text() && is_one_character(value.as_bytes())) {
      character = value.as_text();
    } else if (value.is_int() && value.as_int() >= 0 && value.as_int() < 0xD800) {
      std::string utf8;
      append_utf8(utf8, static_cast<std::uint32_t>(value.as_int()));
      character = MarkedText(utf8, Origin::kTemplate);
    } else {
      return invalid_argument("%c requires int or char");
    }
    out_.append(pad(character, style.width, " ", style.align == '<' ? Align::kLeft : Align::kRight)
    );
    return {};
  }

  Result<void> add_int(const Value& value, NumberStyle style) {
    if (!value.is_number() || (value.is(Kind::kFloat) && !std::isfinite(value.as_double())) ||
        (value.is(Kind::kFloat) && (style.type == 'x' || style.type == 'X' || style.type == 'o'))) {
      return invalid_argument(
          std::string("%") + style.type + " format: a number is required, not " + value.type_name()
      );
    }
    if (style.type == 'i' || style.type == 'u') {
      style.type = 'd';
    }
    constexpr double kLargest = 1e38;
    if (value.is(Kind::kFloat) && std::fabs(value.as_double()) > kLargest) {
      return invalid_argument("the number is too large for %d");
    }
    const Int number =
        value.is_int() ? value.as_int() : static_cast<Int>(std::trunc(value.as_double()));
    out_.append(format_int(number, style), Origin::kTemplate);
    return {};
  }

  Result<void> add_float(const Value& value, const NumberStyle& style) {
    if (!value.is_number()) {
      return invalid_argument("must be real number, not " + value.type_name());
    }
    out_.append(format_float(value.as_double(), style), Origin::kTemplate);
    return {};
  }

  Runtime& runtime_;
  const MarkedText& text_;
  std::string_view bytes_;
  const Value& argument_;
  bool is_tuple_ = false;
  std::size_t pos_ = 0;
  std::size_t num_used_ = 0;
  std::optional<Value> named_;
  MarkedText out_;
};

}  // namespace

Result<Value> percent_format(Runtime& runtime, const MarkedText& text, const Value& argument) {
  return PercentFormatter(runtime, text, argument).run();
}

}  // namespace rapt::jinja
